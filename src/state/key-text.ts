/** One code unit per byte: the order of such texts is the order of the bytes. */
export function keyText(key: Uint8Array): string {
  let text = "";
  for (const byte of key) text += String.fromCharCode(byte);
  return text;
}
