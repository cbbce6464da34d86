// The room of code that is loaded when it is first needed, such as codecs.

/**
 * A function that loads once and returns the same promise from then on: even a repeated import costs a walk through the
 * loader.
 */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined;
  return () => {
    if (loaded === undefined) {
      loaded = load();
      // A failure is not cached: a bundle's chunk that failed to load may load the next time.
      loaded.catch(() => {
        loaded = undefined;
      });
    }
    return loaded;
  };
}

const loads = new WeakMap<object, () => Promise<unknown>>();

/** What an object loads, such as the code of a lazy codec: once, whoever asks. */
export function loadedOf<Loaded>(lazy: { load(): Promise<Loaded> }): Promise<Loaded> {
  let load = loads.get(lazy) as (() => Promise<Loaded>) | undefined;
  if (load === undefined) {
    load = loadOnce(() => lazy.load());
    loads.set(lazy, load);
  }
  return load();
}
