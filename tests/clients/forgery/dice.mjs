// A generator of random numbers that repeats its sequence in every run.

export class Dice {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to 2^32 - 1 (mulberry32). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  below(limit) {
    return this.next() % limit;
  }

  oneIn(chances) {
    return this.below(chances) === 0;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  word() {
    return this.pick(['red', 'blue', 'seven', 'ü', 'a "b"', 'line\nbreak', '🦀']) + this.below(1000);
  }
}
