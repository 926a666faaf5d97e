// Rules that keep a node alive, each with the reason in its message. Layout belongs to prettier.
import tseslint from "typescript-eslint";

/** Folders that must be deterministic: same inputs, same outputs, on every machine. */
const PURE_FOLDERS = [
  ...["base", "consensus", "chain", "evm", "state", "execution", "wire", "txpool", "config"],
];

const PURE_SYNTAX = [
  {
    selector: ":function[async=true]",
    message: "Pure folders are synchronous: return an effect and let the driver wait.",
  },
  { selector: "AwaitExpression", message: "Pure folders are synchronous: no await." },
  {
    selector: "CallExpression[callee.property.name='localeCompare']",
    message: "localeCompare depends on the machine's locale: compare code units or bytes.",
  },
  {
    selector: "CallExpression[callee.property.name=/^(sort|toSorted)$/][arguments.length=0]",
    message: "sort() without a comparator compares as text: say how.",
  },
  {
    selector: "ForInStatement",
    message: "Key order of objects is not arrival order for integer-like keys: use a Map or array.",
  },
];

export default tseslint.config(
  { ignores: ["node_modules/", ".cache/", ".quorate/", "dist/", ".release/"] },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ["./tsconfig.json"], tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/prefer-literal-enum-member": "off",
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      eqeqeq: "error",
      "no-console": "off",
      "no-param-reassign": "off",
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      "max-lines": ["error", { max: 500 }],
    },
  },
  {
    files: ["test/**/*.ts", "bench/**/*.ts"],
    rules: {
      // node:test's it() returns a promise that the runner itself awaits, and its callbacks are long.
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", name: ["it", "describe", "test"], package: "node:test" },
          ],
        },
      ],
      "@typescript-eslint/no-non-null-assertion": "off",
      "max-lines-per-function": "off",
    },
  },
  {
    files: PURE_FOLDERS.map((folder) => `src/${folder}/**/*.ts`),
    rules: {
      "no-restricted-globals": [
        "error",
        { name: "Date", message: "Time is an input, not something a pure folder reads." },
        { name: "performance", message: "Time is an input, not something a pure folder reads." },
        { name: "Intl", message: "Intl depends on the machine." },
        { name: "process", message: "Pure folders do not know their process." },
        { name: "console", message: "Pure folders do not log: return an effect." },
      ],
      "no-restricted-properties": [
        "error",
        { object: "Math", property: "random", message: "Use the seeded Prng given to you." },
      ],
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { group: ["node:*"], message: "Pure folders do no I/O: use src/crypto or a port." },
          ],
        },
      ],
      "no-restricted-syntax": ["error", ...PURE_SYNTAX],
    },
  },
);
