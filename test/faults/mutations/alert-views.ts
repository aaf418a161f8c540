import type { Mutation } from "../mutation.ts";

const operations = ["test/interfaces/operations/alerts.test.ts"];

/** What operators see of alerts, and what it costs them. */
export const alertViews: readonly Mutation[] = [
  {
    defence: "why an alert came is shown without secrets",
    file: "src/interfaces/operations/alerts.ts",
    find: "reason: reason === null ? null : redact(reason),",
    replace: "reason,",
    tests: operations,
  },
  {
    defence: "what a target answered is shown without secrets",
    file: "src/interfaces/operations/alerts.ts",
    find: "lastError: lastError === null ? null : redact(lastError),",
    replace: "lastError,",
    tests: operations,
  },
  {
    defence: "all alerts that were given up are sent again, however many they are",
    file: "src/interfaces/operations/alerts.ts",
    find: "isMore = page.length === readAtOnce;",
    replace: "isMore = false;",
    tests: operations,
  },
  {
    defence: "a hidden tab prolongs no session",
    file: "src/interfaces/gateway/auth.ts",
    find: "isBackground ? deps.sessions.find(token)",
    replace: "isBackground ? deps.sessions.touch(token)",
    tests: ["test/interfaces/gateway/routes/status.test.ts"],
  },
  {
    defence: "a hidden tab has the count of alerts, although it has no stream",
    file: "src/interfaces/dashboard/browser/tab.ts",
    find: "setInterval(askAnyway, askMs);",
    replace: "",
    tests: ["test/interfaces/dashboard/tab-count.test.ts"],
    only: "a hidden tab",
    built: true,
  },
];
