/** Transactions on their way to a thread: one piece of memory that changes hands, not a list. */
const LENGTH_SIZE = 4;

export function packBatch(batch: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const { length } of batch) size += LENGTH_SIZE + length;
  const packed = new Uint8Array(size);
  const view = new DataView(packed.buffer);
  let at = 0;
  for (const bytes of batch) {
    view.setUint32(at, bytes.length);
    packed.set(bytes, at + LENGTH_SIZE);
    at += LENGTH_SIZE + bytes.length;
  }
  return packed;
}

export function unpackBatch(packed: Uint8Array): Uint8Array[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const batch: Uint8Array[] = [];
  for (let at = 0; at < packed.length;) {
    const end = at + LENGTH_SIZE + view.getUint32(at);
    batch.push(packed.subarray(at + LENGTH_SIZE, end));
    at = end;
  }
  return batch;
}
