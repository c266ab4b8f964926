// Light or dark: as the system has it, until the button is pressed.
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("pk-theme");

function announce() {
  document.dispatchEvent(new CustomEvent("pk-theme"));
}

if (button) {
  button.addEventListener("click", () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    announce();
  });
}
dark.addEventListener("change", announce);
