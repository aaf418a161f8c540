import type { TestDeps } from "../gateway/start-gateway.ts";

/** A chart of one green pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkqP9fDwAEAQH/vN5yVwAAAABJRU5ErkJggg==",
  "base64",
);

/** Gives a run files of each kind, and one of its agent's earlier runs only files that were not kept. */
export function withFiles({ operations }: TestDeps, instance: string, attack: string): void {
  const rows = Array.from({ length: 3 }, (_, n) => `item ${n},${n * 3},"a, ""b"""`);
  operations.artifacts.set(instance, {
    "charts/prices.png": png,
    "core.bin": Buffer.from("7f454c4600", "hex"),
    "data/prices.csv": ["name,price,note", `${attack},1,`, ...rows].join("\n"),
    "page.html": `<!doctype html>${attack}`,
    "report.md": `# Report\n\n${attack}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n`,
    "result.json": JSON.stringify({ ok: true, prices: [1, 2, 3], text: attack }),
    "run.log": "line of a long log\n".repeat(20_000),
    [`${"very-long-name-".repeat(12)}\u202etxt.sh`]: "#!/bin/sh\n",
  });
  const why = "does not fit into the 50 MiB that are left";
  const files = [
    { path: "dump.sql", bytes: 734_003_200, why },
    { path: "socket", bytes: null, why: "is not a regular file" },
  ];
  operations.artifacts.set("dev-aaaaaaaa", {}, { leftOut: { files, more: 12 } });
  operations.artifacts.set("dev-bbbbbbbb", {}, { dropped: 3 });
}
