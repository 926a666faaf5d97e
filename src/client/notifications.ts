/** Subscriptions to events; listeners are called in the order of subscription. */
export class Emitter<Events extends Readonly<Record<string, unknown>>> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #onError: (error: unknown) => void;

  /** A listener that throws is reported here; the others are called all the same. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns what ends the subscription. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        // The set of a name holds listeners of that name only: `on` put them there.
        (listener as (event: Events[Name]) => void)(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
