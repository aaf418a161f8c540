import type { SpendKey } from "../../../foundation/contracts/spend-options.ts";
import type { SpendAnswer } from "../../../foundation/contracts/spend-report.ts";
import { showToast } from "./actions.ts";
import { fetchJson } from "./api.ts";
import { showDays } from "./cost-days.ts";
import { showFigures } from "./cost-figures.ts";
import { showLimits, showRows } from "./cost-tables.ts";
import { byId, setText, showText } from "./dom.ts";
import { eachSecond, openStatusStream } from "./site.ts";

/** Adding up the calls of 30 days takes the scheduler a moment: it is not asked for each call. */
const refreshMs = 5_000;

let isChanged = true;
let askedAt = 0;

/** Null when the scheduler does not answer: what is shown stays. */
async function spendingBy(by: SpendKey): Promise<SpendAnswer | null> {
  const fetched = await fetchJson<SpendAnswer>(`/api/spend?by=${by}`);
  if (!fetched.ok) showToast(fetched.detail);
  return fetched.ok ? fetched.value : null;
}

async function refresh(): Promise<void> {
  isChanged = false;
  askedAt = Date.now();
  const [days, agents, models] = await Promise.all([
    spendingBy("day"),
    spendingBy("agent"),
    spendingBy("model"),
  ]);
  if (days === null || agents === null || models === null) return;
  const isEmpty = days.rows.length === 0;
  byId("empty").hidden = !isEmpty;
  byId("parts").hidden = isEmpty;
  setText(byId("period"), isEmpty ? "" : "the last 30 days");
  showFigures(days);
  showDays(byId("days"), days);
  showRows(byId("agents"), agents.rows, "agent");
  showRows(byId("models"), models.rows, "model");
  showLimits(byId("limits"), days.limits);
  showText("unpriced", unpricedText(models));
}

/** Names the models whose calls have no price, with what to do. */
function unpricedText({ rows }: SpendAnswer): string | null {
  const names = rows.filter(({ unpriced, usd }) => unpriced > 0 && usd > 0).map(({ key }) => key);
  if (names.length === 0) return null;
  const [are, their, model] =
    names.length === 1 ? ["is", "Its", "Model"] : ["are", "Their", "Models"];
  return (
    `${model} ${names.join(", ")} ${are} unpriced. ${their} calls count at the dearest price of the provider ` +
    `until config.toml has a price: [models.${names[0] ?? ""}] price = { input = …, output = … }.`
  );
}

eachSecond((now) => {
  if (isChanged && now - askedAt >= refreshMs) void refresh();
});

openStatusStream("Cost", {
  snapshot: () => void refresh(),
  update: ({ agents }) => {
    if (agents !== undefined) isChanged = true;
  },
});
