/** Turns for the page while much is computed: it is never held up for long. */

/** The page gets its turn after so long (ms). */
const LONGEST = 10;

/** Give the page its turn: by a message, as timers that follow each other wait for 4 ms. @returns {Promise<void>} */
export const turn = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(null);
});

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
