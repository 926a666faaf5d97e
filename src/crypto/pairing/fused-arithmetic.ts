import { WasmAssembler } from "../wasm/wasm-assembler.ts";
import { instantiateWasm } from "../wasm/wasm-instance.ts";

/**
 * Whether this machine's WebAssembly multiplies and adds without rounding in between. It may do
 * otherwise ("relaxed"), and old machines know no vectors at all: then fp2-kernel.ts cannot be
 * used.
 */
export function isFusedArithmetic(): boolean {
  try {
    const assembler = new WasmAssembler(RESULT_ADDRESS + 16);
    const factor = doubleBits(2 ** 27 + 1);
    const summand = doubleBits(-(2 ** 54 + 2 ** 28));
    assembler.define("probe", [], (body) => {
      body.i32(RESULT_ADDRESS).constant(factor, factor).constant(factor, factor);
      body.constant(summand, summand).op("f64x2.relaxed_madd").storePair(0);
    });
    const instance = instantiateWasm(assembler.encode());
    instance.function("probe")();
    // (2^27 + 1)^2 = 2^54 + 2^28 + 1: the one is lost if the square is rounded.
    return new Float64Array(instance.memory, RESULT_ADDRESS, 2).every((lane) => lane === 1);
  } catch {
    return false;
  }
}

const RESULT_ADDRESS = 4096;

function doubleBits(value: number): bigint {
  return new BigUint64Array(Float64Array.of(value).buffer)[0] ?? 0n;
}
