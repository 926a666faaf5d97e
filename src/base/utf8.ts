/** Of the language's host: the pure folders are compiled without its types. */
declare class TextDecoder {
  decode(bytes: Uint8Array): string;
}

const decoder = new TextDecoder();

/** Bytes that are no UTF-8 become replacement characters. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
