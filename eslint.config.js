import parser from "@typescript-eslint/parser";
import regexp from "eslint-plugin-regexp";
import rxjs from "eslint-plugin-rxjs-x";

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

/** For no-restricted-syntax: a reader sees at the call which fields, arguments or items there are. */
const spreadLiterals = {
  message: "Write the fields or items in place of spreading a literal.",
  selector:
    "ObjectExpression > SpreadElement > ObjectExpression, SpreadElement > ArrayExpression[elements.length>0]",
};

/** For no-restricted-syntax: the root subscribes once, operators inside `new Observable`. */
const subscriptions = {
  message: "Return a stream; the root subscribes. An operator subscribes inside `new Observable`.",
  selector:
    "CallExpression[callee.property.name='subscribe']:not(NewExpression[callee.name='Observable'] CallExpression)",
};

/** For no-restricted-syntax, in tests: they wait for an event, or say in `pause` why there is none. */
const sleeps = [
  "ImportDeclaration[source.value=/timers.promises$/] > ImportSpecifier[imported.name='setTimeout']",
  "CallExpression[callee.name='setTimeout']",
  "CallExpression[callee.property.name='waitForTimeout']",
].map((selector) => ({ message: "Wait for an event, or use `pause` and say why.", selector }));

/** For no-restricted-syntax, in tests: what a page shows changes after an action, so a single look may come too early. */
const singleLooks = {
  message: "Poll what a page shows: `await expect.poll(() => locator.innerText())`.",
  selector:
    "CallExpression[callee.name='expect'] > AwaitExpression > CallExpression[callee.property.name=/^(innerText|innerHTML|textContent|inputValue|getAttribute|allInnerTexts|allTextContents|isVisible|isHidden|isEnabled|isDisabled|isChecked)$/]",
};

/** The root, and edges whose connection owns the subscription. */
const subscribers = [
  "src/start/start.ts",
  "src/interfaces/gateway/sse.ts",
  "src/runtime/runs/budget-waits.ts",
  "src/runtime/harness/pi/pi.ts",
];

/** Rules that oxlint (`.oxlintrc.json`) has no counterpart of: RxJS by types, the time of regular expressions, and this code's own. */
export default [
  { ignores: ["**/*.mjs"] },
  {
    files: ["streams/**/*.{ts,tsx}", "src/**/*.{ts,tsx}"],
    languageOptions: {
      parser,
      parserOptions: { project: ["tsconfig.json"], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { regexp, "rxjs-x": rxjs },
    rules: {
      // Stored and foreign texts have a megabyte: time in proportion to its square would stop the scheduler for minutes.
      "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
      "regexp/no-super-linear-move": ["error", { report: "potential" }],
      "no-restricted-syntax": ["error", spreadLiterals],
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
    files: ["test/**/*.{ts,tsx}"],
    ignores: ["test/helpers/pause.ts"],
    languageOptions: { parser },
    rules: { "no-restricted-syntax": ["error", ...sleeps, singleLooks, spreadLiterals] },
  },
];
