/** The functions of an instantiated module by name, and its memory. */
type WasmInstance = {
  readonly memory: ArrayBuffer;
  function(name: string): WasmCall;
};

/** i32 is a number, i64 a bigint. */
export type WasmCall = (...values: readonly (number | bigint)[]) => unknown;

/** The part of the JavaScript API of WebAssembly used here; Node's own types leave it out. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Record<string, unknown> };
};

/** Compiles and instantiates synchronously, which is allowed for small modules. */
export function instantiateWasm(binary: Uint8Array): WasmInstance {
  const module = new WebAssembly.Module(binary);
  const { exports } = new WebAssembly.Instance(module);
  const { memory } = exports;
  if (!isMemory(memory)) throw new TypeError("the module has no memory");
  return {
    memory: memory.buffer,
    function(name) {
      const found = exports[name];
      if (!isCall(found)) throw new TypeError(`the module has no function ${name}`);
      return found;
    },
  };
}

function isMemory(value: unknown): value is { readonly buffer: ArrayBuffer } {
  return typeof value === "object" && value !== null && "buffer" in value;
}

function isCall(value: unknown): value is WasmCall {
  return typeof value === "function";
}
