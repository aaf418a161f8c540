import rxjs from "eslint-plugin-rxjs-x";
import tseslint from "typescript-eslint";

/** Names of values that must be compared without telling by the time how much was right. */
const secret = "/(key|token|secret|signature|password|digest|hmac)$/i";
const fixed = (side) =>
  `:not([${side}.type='Literal'], [${side}.type='Identifier'][${side}.name='undefined'], [${side}.type='TemplateLiteral'][${side}.expressions.length=0])`;
const named = (side) =>
  `:matches([${side}.type='Identifier'][${side}.name=${secret}], [${side}.type='MemberExpression'][${side}.property.name=${secret}])`;
const message =
  "This tells by its time how much was right: compare secrets with timingSafeEqual (isSameSecret, carriesToken).";

/** For no-restricted-syntax: a secret is compared by its parts' order, which an attacker can measure. */
const comparedSecrets = [
  {
    message,
    selector: `BinaryExpression[operator=/^[!=]==?$/]:matches(${named("left")}${fixed("right")}, ${named("right")}${fixed("left")})`,
  },
  {
    message,
    selector: `CallExpression[callee.property.name=/^(equals|compare|localeCompare)$/]:matches(${named("callee.object")}, ${named("arguments.0")}, ${named("arguments.1")})`,
  },
];

/** For no-restricted-syntax: a reader sees at the call which fields an object has. */
const spreadLiterals = {
  message: "Name the fields in place of spreading an object literal.",
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
};

/** For no-restricted-syntax: the root subscribes once, operators inside `new Observable`. */
const subscriptions = {
  message: "Return a stream; the root subscribes. An operator subscribes inside `new Observable`.",
  selector:
    "CallExpression[callee.property.name='subscribe']:not(NewExpression[callee.name='Observable'] CallExpression)",
};

/** The root, and edges whose connection owns the subscription. */
const subscribers = [
  "src/start/start.ts",
  "src/interfaces/gateway/sse.ts",
  "src/runtime/runs/budget-waits.ts",
  "src/runtime/harness/pi/pi.ts",
];

export default tseslint.config(
  {
    ignores: [
      "dist",
      "node_modules",
      "**/*.mjs",
      "!src/setup/*.mjs",
      "**/*.cjs",
      "eslint.config.js",
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        // The tests' project includes src and streams.
        project: ["test/tsconfig.json"],
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
      // Dear rules for features that this code has not: enums (tsc's erasableSyntaxOnly), instances beside objects.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "@typescript-eslint/no-unsafe-enum-comparison": "off",
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "@typescript-eslint/no-meaningless-void-operator": "off",
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
    files: ["src/**/*.{ts,tsx}"],
    rules: { "no-restricted-syntax": ["error", spreadLiterals] },
  },
  {
    // The client's generated classes name the fields of plain objects: it neither makes nor needs instances.
    files: ["src/runtime/cluster/kubernetes/**/*.ts", "test/**/kubernetes/**/*.ts"],
    rules: { "@typescript-eslint/no-misused-spread": "off" },
  },
  {
    // Where a text from outside is compared with a secret; elsewhere a key is a table's.
    files: ["src/**/*.ts"],
    ignores: ["src/interfaces/cli/**", "src/foundation/config/**"],
    rules: {
      "no-restricted-syntax": ["error", ...comparedSecrets, spreadLiterals, subscriptions],
    },
  },
  {
    files: subscribers,
    rules: { "no-restricted-syntax": ["error", ...comparedSecrets, spreadLiterals] },
  },
  {
    files: ["streams/**/*.ts", "src/**/rules/**/*.ts"],
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
        spreadLiterals,
        subscriptions,
      ],
    },
  },
  {
    // The build is plain JavaScript, so that a clone can run it with any Node.
    files: ["src/setup/*.mjs"],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { parserOptions: { project: false } },
  },
);
