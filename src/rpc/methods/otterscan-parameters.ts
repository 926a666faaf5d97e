/** Otterscan writes numbers of blocks and pages as JSON integers. */
import type { Dialect } from "../method.ts";
import { parseBlockNumber, type BlockTag } from "../params/block-tag.ts";
import { invalidParameter, type Place } from "../params/parameters.ts";

export const OTTERSCAN_PAGE_MAX = 100;

export function parseOtterscanBlock(value: unknown, place: Place, dialect: Dialect): BlockTag {
  const isNumber = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  return isNumber
    ? { kind: "number", number: BigInt(value) }
    : parseBlockNumber(value, place, dialect);
}

export function parsePageNumber(value: unknown, place: Place, max: number): number {
  const isNumber = typeof value === "number" && Number.isSafeInteger(value);
  if (isNumber && value >= 0 && value <= max) return value;
  throw invalidParameter(place, `an integer from 0 to ${max}`, value);
}
