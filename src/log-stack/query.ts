/** A search as a value: what search-query.ts reads and search-sql.ts turns into a condition. */

export type Scalar = string | number | boolean;

export type RangeBounds = {
  readonly gte?: Scalar;
  readonly gt?: Scalar;
  readonly lte?: Scalar;
  readonly lt?: Scalar;
};

export type Query =
  | { readonly kind: "all" }
  | { readonly kind: "none" }
  /** Words anywhere in the entry or, with a field, in it. */
  | {
      readonly kind: "words";
      readonly field: string | undefined;
      readonly text: string;
      readonly mode: "every" | "some" | "phrase" | "prefix";
    }
  | { readonly kind: "term"; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly kind: "prefix"; readonly field: string; readonly value: string }
  | { readonly kind: "exists"; readonly field: string }
  | { readonly kind: "range"; readonly field: string; readonly bounds: RangeBounds }
  | { readonly kind: "ids"; readonly ids: readonly number[] }
  | { readonly kind: "every"; readonly queries: readonly Query[] }
  | { readonly kind: "some"; readonly queries: readonly Query[]; readonly countMin: number }
  | { readonly kind: "not"; readonly query: Query };
