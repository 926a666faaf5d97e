/**
 * What the state needs of a disk: an ordered map of byte strings. Everything is synchronous,
 * because an opcode cannot wait. Keys are at most 128 bytes, values are never empty.
 */
export type KeyValueStore = {
  /** The caller does not change the bytes it gets. */
  get(key: Uint8Array): Uint8Array | undefined;
  /** The first entry whose key is not below `from`, in the order of `compareBytes`. */
  seek(from: Uint8Array): Entry | undefined;
  /** All or nothing, also over a crash. Later changes of a key win over earlier ones. */
  write(changes: readonly Change[]): void;
};

export type Entry = { readonly key: Uint8Array; readonly value: Uint8Array };

/** No value deletes the key; deleting one that is absent is allowed. */
export type Change = { readonly key: Uint8Array; readonly value: Uint8Array | undefined };
