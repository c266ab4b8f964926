// 64-bit words as two 32-bit halves. Results are left in `low` and `high`: no object is made for a word.

let low = 0;
let high = 0;

/** The upper half of the product of two unsigned 32-bit numbers. */
function upperProduct(a, b) {
  const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const other = a0 * b1 + (middle & 0xffff);
  return a1 * b1 + Math.floor(middle / 65536) + Math.floor(other / 65536);
}

/** low, high = a * b modulo 2^64. */
function multiply(aLow, aHigh, bLow, bHigh) {
  const top = upperProduct(aLow, bLow) + Math.imul(aLow, bHigh) + Math.imul(aHigh, bLow);
  low = Math.imul(aLow, bLow) >>> 0;
  high = top >>> 0;
}

/** low, high = a + b modulo 2^64. */
function add(aLow, aHigh, bLow, bHigh) {
  const sum = aLow + bLow;
  low = sum >>> 0;
  high = (aHigh + bHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0;
}

/** low, high = (z ^ (z >>> shift)) * factor, for a shift below 32. */
function xorShiftMultiply(zLow, zHigh, shift, factorLow, factorHigh) {
  const shiftedLow = (zLow >>> shift) | (zHigh << (32 - shift));
  multiply((zLow ^ shiftedLow) >>> 0, (zHigh ^ (zHigh >>> shift)) >>> 0, factorLow, factorHigh);
}

/** splitmix64: the same as mix_word in Python. */
function mixWord(wordLow, wordHigh) {
  add(wordLow, wordHigh, 0x7f4a7c15, 0x9e3779b9);
  xorShiftMultiply(low, high, 30, 0x1ce4e5b9, 0xbf58476d);
  xorShiftMultiply(low, high, 27, 0x133111eb, 0x94d049bb);
  const shiftedLow = (low >>> 31) | (high << 1);
  low = (low ^ shiftedLow) >>> 0;
  high = (high ^ (high >>> 31)) >>> 0;
}

/** Another mixer, the same as mix_other in Python. */
function mixOther(wordLow, wordHigh) {
  multiply((wordLow ^ wordHigh) >>> 0, wordHigh, 0x6659fd93, 0xd6e8feb8);
  multiply((low ^ high) >>> 0, high, 0x6659fd93, 0xd6e8feb8);
  low = (low ^ high) >>> 0;
}

/** A table from words to numbers 0, 1, 2, ... in the order in which words were first added. */
class WordTable {
  constructor(expected = 16) {
    let size = 16;
    while (size < 2 * expected) size *= 2;
    this.slots = new Int32Array(size).fill(-1);
    this.lows = new Uint32Array(size / 2); // at most half of the slots are taken
    this.highs = new Uint32Array(size / 2);
    this.size = 0;
  }

  /** Forget all words, and keep the room for them. */
  clear() {
    this.slots.fill(-1);
    this.size = 0;
  }

  /** The slot of a word, or of the gap where it belongs. */
  _slot(wordLow, wordHigh) {
    const mask = this.slots.length - 1;
    let hash = Math.imul(wordLow ^ Math.imul(wordHigh, 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
    let slot = hash & mask;
    for (;;) {
      const found = this.slots[slot];
      if (found < 0 || (this.lows[found] === wordLow && this.highs[found] === wordHigh)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** The number of a word, or -1. */
  find(wordLow, wordHigh) {
    return this.slots[this._slot(wordLow, wordHigh)];
  }

  /** The number of a word, a new one if it is new. */
  number(wordLow, wordHigh) {
    const slot = this._slot(wordLow, wordHigh);
    if (this.slots[slot] >= 0) return this.slots[slot];
    if (this.size === this.lows.length) {
      this._grow();
      return this.number(wordLow, wordHigh);
    }
    const own = this.size++;
    this.lows[own] = wordLow;
    this.highs[own] = wordHigh;
    this.slots[slot] = own;
    return own;
  }

  _grow() {
    for (const name of ["lows", "highs"]) {
      const longer = new Uint32Array(2 * this[name].length);
      longer.set(this[name]);
      this[name] = longer;
    }
    this.slots = new Int32Array(2 * this.slots.length).fill(-1);
    for (let i = 0; i < this.size; i++) this.slots[this._slot(this.lows[i], this.highs[i])] = i;
  }
}
