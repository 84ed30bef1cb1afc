/** Turns for the page while much is computed: it is never held up for long. */

/** The page gets its turn after so long (ms). */
const LONGEST = 10;

/** Give the page its turn. */
export const turn = () => new Promise((resolve) => setTimeout(resolve));

export class Pace {
  /** @param {AbortSignal} [signal] ends what is computed */
  constructor(signal) {
    this.signal = signal;
    this.began = performance.now();
  }

  /** Give the page its turn where it has waited long enough. */
  async rest() {
    if (performance.now() - this.began >= LONGEST) await this.turn();
  }

  /** Give the page its turn. */
  async turn() {
    await turn();
    this.signal?.throwIfAborted();
    this.began = performance.now();
  }
}
