import { Problem } from "../../../foundation/errors.ts";
import { valueAt } from "../../../../streams/where.ts";
import { refused, rows, sortedTexts, type CallApi, type HookApi } from "./hook-api.ts";

/** Types of resources that an agent without a filter for events listens to. */
const allTypes =
  "Attachment Comment Cycle Document Initiative Issue IssueLabel Project ProjectUpdate Reaction";

/** https://linear.app/developers/webhooks and the schema of Linear's GraphQL API; it sends no ping. */
export const linearHooks: HookApi = {
  credential: "linear_token",
  address: "https://api.linear.app/graphql",
  target: "TEAM",
  headers: (token) => ({ authorization: token }),
  eventsOf: (events) => (events === null ? allTypes.split(" ") : events.map(typeOf)).sort(),
  find: async (call, target, urls) => {
    const data = await query(
      call,
      "query { webhooks(first: 250) { nodes { id url enabled resourceTypes team { key } } } }",
    );
    const found = rows(valueAt(data, "webhooks.nodes")).find(
      (hook) => urls.includes(String(hook.url)) && (valueAt(hook, "team.key") ?? "") === target,
    );
    if (found === undefined) return null;
    const { id, resourceTypes, enabled } = found;
    return { id: String(id), events: sortedTexts(resourceTypes), isActive: enabled === true };
  },
  save: async (call, target, id, { url, events, secret }) => {
    const input = { url, resourceTypes: events, enabled: true, ...(secret && { secret }) };
    if (id !== null) {
      await query(
        call,
        "mutation($id: String!, $input: WebhookUpdateInput!) { webhookUpdate(id: $id, input: $input) { success } }",
        { id, input },
      );
      return { id, secret: null };
    }
    const place = target === "" ? { allPublicTeams: true } : { teamId: await teamId(call, target) };
    const data = await query(
      call,
      "mutation($input: WebhookCreateInput!) { webhookCreate(input: $input) { success webhook { id } } }",
      { input: { ...input, ...place } },
    );
    return { id: String(valueAt(data, "webhookCreate.webhook.id")), secret: null };
  },
};

/** `issue_label` is the filter's name of `IssueLabel`; two types have names of their own. */
function typeOf(event: string): string {
  if (event === "issues") return "Issue";
  if (event === "issue_comment") return "Comment";
  return event.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

async function teamId(call: CallApi, key: string): Promise<string> {
  const data = await query(
    call,
    "query($key: String!) { teams(filter: { key: { eq: $key } }) { nodes { id } } }",
    { key },
  );
  const [team] = rows(valueAt(data, "teams.nodes"));
  if (team !== undefined) return String(team.id);
  throw new Problem("unknown_team", `Linear knows no team with the key "${key}"`);
}

/** GraphQL answers errors with status 200, too. */
async function query(call: CallApi, text: string, variables: object = {}): Promise<unknown> {
  const answer = await call("POST", "", { query: text, variables });
  const [error] = rows(valueAt(answer, "errors"));
  if (error !== undefined) throw refused(`Linear answered: ${String(error.message)}`, linearHooks);
  return valueAt(answer, "data");
}
