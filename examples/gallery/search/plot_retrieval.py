"""
Find similar molecules
======================

An index answers which graphs are most similar to a given one: exactly, in milliseconds, and growing
without refitting.
"""

import matplotlib.pyplot as plt
from rdkit import Chem
from rdkit.Chem import Draw

import propkernels as pk

drugs = {
    "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
    "salicylic acid": "O=C(O)c1ccccc1O",
    "paracetamol": "CC(=O)Nc1ccc(O)cc1",
    "ibuprofen": "CC(C)Cc1ccc(C(C)C(=O)O)cc1",
    "naproxen": "COc1ccc2cc(C(C)C(=O)O)ccc2c1",
    "ketoprofen": "CC(C(=O)O)c1cccc(C(=O)c2ccccc2)c1",
    "caffeine": "Cn1c(=O)c2c(ncn2C)n(C)c1=O",
    "theophylline": "Cn1c(=O)c2[nH]cnc2n(C)c1=O",
    "theobromine": "Cn1cnc2c1c(=O)[nH]c(=O)n2C",
    "propranolol": "CC(C)NCC(O)COc1cccc2ccccc12",
    "atenolol": "CC(C)NCC(O)COc1ccc(CC(N)=O)cc1",
    "metoprolol": "COCCc1ccc(OCC(O)CNC(C)C)cc1",
    "salbutamol": "CC(C)(C)NCC(O)c1ccc(O)c(CO)c1",
    "dopamine": "NCCc1ccc(O)c(O)c1",
    "adrenaline": "CNCC(O)c1ccc(O)c(O)c1",
    "amphetamine": "CC(N)Cc1ccccc1",
    "nicotine": "CN1CCCC1c1cccnc1",
    "diazepam": "CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21",
    "oxazepam": "O=C1Nc2ccc(Cl)cc2C(c2ccccc2)=NC1O",
    "lidocaine": "CCN(CC)CC(=O)Nc1c(C)cccc1C",
    "procaine": "CCN(CC)CCOC(=O)c1ccc(N)cc1",
    "benzocaine": "CCOC(=O)c1ccc(N)cc1",
}
graphs = pk.from_smiles(list(drugs.values()), node_labels="symbol+aromatic")
kernel = pk.WeisfeilerLehman(t_max=3)
index = pk.GraphIndex(kernel=kernel).fit(graphs, ids=list(drugs))

# %%
# Three questions. Each drug's first answer is itself, so four are asked for.
questions = ["atenolol", "caffeine", "ibuprofen"]
positions = [list(drugs).index(name) for name in questions]
similarities, ids = index.query(graphs[positions], k=4)

fig, axes = plt.subplots(3, 4, figsize=(11, 7), layout="constrained")
for row, found, values in zip(axes, ids, similarities, strict=True):
    for ax, name, value in zip(row, found, values, strict=True):
        ax.imshow(Draw.MolToImage(Chem.MolFromSmiles(drugs[name]), size=(300, 200)))
        ax.set_title(f"{name}: {value:.2f}", fontsize=10)
        ax.axis("off")
    row[0].set_title(row[0].get_title(), fontweight="bold", fontsize=10)
plt.show()
