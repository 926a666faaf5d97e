/** The parts of every WebAssembly binary, shared by the two writers here. */

/** Codes of the value types. */
export const VALUE_TYPE_CODE = { i32: 0x7f, i64: 0x7e } as const;

/** Ends a function's body, a constant expression and what is nested. */
export const END = 0x0b;

/** The encoded parts of a module with one memory; function number n has type number n. */
type ModuleParts = {
  readonly types: readonly Encoded[];
  readonly bodies: readonly Encoded[];
  readonly exports: readonly Encoded[];
  /** Memory does not grow. */
  readonly memoryPages: number;
  /** What is in memory from the start. */
  readonly data: { readonly address: number; readonly bytes: Encoded };
};

type Encoded = readonly number[];

const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const SECTION_ID = { type: 1, function: 3, memory: 5, export: 7, code: 10, data: 11 } as const;

export function encodeModule(parts: ModuleParts): Uint8Array<ArrayBuffer> {
  const { types, bodies, exports, memoryPages, data } = parts;
  const pages = unsignedLeb128(memoryPages);
  const address = [0x41, ...signedLeb128(BigInt(data.address)), END];
  const sections = [
    section("type", types),
    section(
      "function",
      types.map((_, index) => unsignedLeb128(index)),
    ),
    section("memory", [[1, ...pages, ...pages]]),
    section("export", exports),
    section("code", bodies),
    section("data", [[0, ...address, ...sized(data.bytes)]]),
  ];
  return Uint8Array.from([...HEADER, ...sections.flat()]);
}

function section(name: keyof typeof SECTION_ID, items: readonly Encoded[]): number[] {
  return [SECTION_ID[name], ...sized(vector(items))];
}

export function functionType(parameters: Encoded, results: Encoded): number[] {
  return [0x60, ...sized(parameters), ...sized(results)];
}

export function exportedFunction(name: string, index: number): number[] {
  return [...text(name), 0, ...unsignedLeb128(index)];
}

/** The one memory of a module, exported as `memory`. */
export function exportedMemory(): number[] {
  return [...text("memory"), 2, 0];
}

/** A name in ASCII. */
function text(value: string): number[] {
  return sized(Array.from(value, (character) => character.charCodeAt(0)));
}

export function vector(items: readonly Encoded[]): number[] {
  return [...unsignedLeb128(items.length), ...items.flat()];
}

/** Bytes behind their count. */
export function sized(bytes: Encoded): number[] {
  return unsignedLeb128(bytes.length).concat(bytes);
}

/** LEB128. */
export function unsignedLeb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return bytes;
}

export function signedLeb128(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest < -64n || rest > 63n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest & 0x7fn));
  return bytes;
}
