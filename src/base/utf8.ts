/** Declared here because the pure folders are compiled without the host's types. */
declare class TextDecoder {
  decode(bytes: Uint8Array): string;
}

const decoder = new TextDecoder();

/** Bytes that are no UTF-8 become replacement characters. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
