import rxjs from "eslint-plugin-rxjs-x";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "node_modules", "**/*.mjs", "**/*.cjs", "eslint.config.js"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.json", "./test/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { "rxjs-x": rxjs },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": "off",
      "max-lines": ["error", { max: 250, skipBlankLines: true, skipComments: true }],
      "max-depth": ["error", 3],
      complexity: ["error", { max: 12, variant: "modified" }],
      "no-console": "error",
    },
  },
  {
    files: ["streams/**/*.ts", "src/**/*.ts"],
    rules: {
      "rxjs-x/no-async-subscribe": "error",
      "rxjs-x/no-exposed-subjects": "error",
      "rxjs-x/no-floating-observables": "error",
      "rxjs-x/no-nested-subscribe": "error",
      "rxjs-x/no-unbound-methods": "error",
      "rxjs-x/no-unsafe-takeuntil": ["error", { alias: ["untilStopping"] }],
      "rxjs-x/no-sharereplay": "error",
    },
  },
  {
    files: ["streams/**/*.ts"],
    rules: {
      "no-restricted-globals": [
        "error",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "process",
        "Buffer",
        "performance",
      ],
      // A moment that is passed in may be formatted; what time it is now comes from the scheduler.
      "no-restricted-syntax": [
        "error",
        "NewExpression[callee.name='Date'][arguments.length=0]",
        "CallExpression[callee.name='Date']",
        "MemberExpression[object.name='Date'][property.name='now']",
      ],
    },
  },
);
