import { createServer } from "node:https";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { certificateFor } from "../helpers/git-https-server.ts";
import { scriptedAgents } from "../helpers/scripted-agents.ts";
import { withOutside } from "../helpers/outside.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";
import { listen } from "../helpers/listen.ts";

const noNetwork = whyNoNetwork();
noteSkipped("attacks of host users", noNetwork);

/** Where the host that needs approval stands, and a host that does not, on the same server. */
const address = "203.0.113.10";

/** The attempts that are refused without a question, one that a person allows once, and those that come after it. */
const attack = (gateway: string, port: number) => `
ask() { name=$1; shift; echo "$name: $(curl -ksS -o answer -w '%{http_code}/%{http_connect}' --max-time 60 "$@" 2>error; true) $(head -c 100 error)"; }
ask direct --noproxy '*' https://127.0.0.1:${port}/direct
ask literal https://${address}/literal
ask sni --connect-to api.pay.test:443:cdn.pay.test:443 https://api.pay.test/sni
ask gateway --noproxy '' ${gateway}/api/questions
ask api --noproxy '*' ${gateway}/api/questions
ask answer -X POST -d '{"answer":"always"}' -H 'content-type: application/json' $(echo $HTTP_PROXY | sed 's/[^/]*@//')/api/questions
ask once https://api.pay.test./once
ask case https://API.Pay.TEST/case
ask again https://api.pay.test/again
echo "{}" > context; al-subagent helper < context || echo "call: failed"
`;
const helper = `curl -ksS -o /dev/null -w 'helper: %{http_code}/%{http_connect}\\n' https://api.pay.test/helper || true`;

/** What comes of each attempt. */
const ends = {
  // Without the proxy there is no network.
  direct: "000/000",
  api: "000/000",
  // The proxy refuses an address that no list names, and the scheduler's own gateway; it has no questions.
  literal: "000/403",
  gateway: "403/000",
  answer: "401/000",
  // The tunnel to another host is cut.
  sni: "000/200",
  once: "200/200",
  case: "000/403",
  again: "000/403",
};

test.skipIf(noNetwork !== null)(
  "a run can't bypass a required approval",
  async () => {
    const agent = (name: string, more: string) =>
      `[network]\nallow = ${more}${ownUser}[hooks]\npre = ["bash scripts/${name}.sh"]\n`;
    const gate = '[approve]\nhosts = ["api.pay.test"]\n';
    const project = await scriptedAgents({
      payer: { config: agent("attack", `["cdn.pay.test"]\n${gate}`) },
      helper: {
        config: agent("help", '["api.pay.test"]\n'),
        files: { "scripts/help.sh": helper },
      },
    });
    const seen: string[] = [];
    const certificate = certificateFor("DNS:api.pay.test,DNS:cdn.pay.test");
    const server = createServer(certificate, ({ url }, response) => {
      seen.push(url ?? "");
      response.end("paid");
    });
    onTestFinished(() => void server.close());
    const port = await listen(server);
    const names = ["api.pay.test", "cdn.pay.test"];
    const env = withOutside({
      addresses: Object.fromEntries(names.map((name) => [name, address])),
      ports: { [address]: port },
    });
    const { url } = await project.start({ env });
    await project.write("agents/payer/scripts/attack.sh", attack(url, port));

    const run = project.print("run", "payer");
    type Questions = Readonly<Record<"questions", readonly QuestionView[]>>;
    const open = async () =>
      (await project.json<Questions>("/api/questions?state=open")).questions[0];
    for (const [by, answer] of [
      ["payer", "once"],
      ["payer", "deny"],
      ["helper", "deny"],
    ] as const) {
      const asked = { subject: "api.pay.test", agent: by, kind: "host" };
      await expect.poll(open, { timeout: 120_000 }).toMatchObject(asked);
      if (answer === "once") expect(seen).toEqual([]);
      await project.post(`/api/questions/${(await open())?.id ?? ""}/answer`, { answer });
    }
    const lines = (await run).matchAll(/INFO +([a-z]+): (\d{3}\/\d{3})/g);
    expect(Object.fromEntries([...lines].map(([, name, text]) => [name, text]))).toEqual(ends);
    await expect.poll(() => project.messages("helper", "hook")).toContain("helper: 000/403");
    expect(seen).toEqual(["/once"]);
  },
  240_000,
);
