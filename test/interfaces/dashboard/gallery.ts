import { attack, instance } from "./page-states.ts";
import type { Shown } from "./shows.ts";
import type { states } from "./states.ts";

export const agent = "/dashboard/agents/dev";
const run = `${agent}/runs/${instance}`;

const held = `x:${attack} held by ${instance} since 1 min ago expires in 29 min`;
const locks = `${held} waited for by agent-0-aaaaaaaa`;
const readOnly = /Read-only here: \[gateway\]\.edit of the project is false/;
const warnings = "agents/a is not an agent agents/b is not an agent";

/** Each page in each state in which it differs, and what it shows there. */
export const gallery: readonly (readonly [
  path: string,
  state: keyof typeof states,
  shown: Shown,
])[] = [
  ["/dashboard", "no agent", { "#empty": /^No agents yet/, "#table, #health": false }],
  ["/dashboard", "empty", { "#counts": "1 agent", "#locks, #config-warnings": false }],
  [
    "/dashboard?sort=name",
    "busy",
    {
      thead:
        "Selected Agent State Status Last 20 Runs Last Run Duration Next Run Cost Today Actions",
      "tr[data-agent=agent-0]": /^agent-0 disabled 1 queued .*\d\d:\d\d succeeded 1\.2 s/,
      "tr[data-agent=agent-2]": /running reading · 1 of 4 · 3 queued/,
      "tr[data-agent=agent-0] td.last-run time@title": /20\d\d/,
      "#counts": "10 agents",
      "#lock-count": "1 lock held",
      "#locks-list li": [locks],
      "#activity a@href": [agent, run],
      "nav.pages": /^Agents Triggers Search Cost Questions 6 open Alerts Audit trail API tokens/,
      "nav.pages [aria-current=page]": "Agents",
    },
  ],
  [
    "/dashboard",
    "broken",
    {
      "#config-error": "config.toml:1:1: this is no TOML",
      "#config-warnings": warnings,
      "tr[data-agent=dev] td.status":
        /^no cron expression · agents\/dev\/config.toml:4:12 · credential/,
      "tr[data-agent=agent-1] td.status": /^no price is known/,
      "#scheduler-state": "schedules paused",
      "#alert-count": "3 open or undelivered",
    },
  ],
  [agent, "empty", { "#runs-empty": "No runs yet.", "#hosts-note": /^No requests were denied/ }],
  [
    agent,
    "busy",
    {
      "#state": "running",
      "#locks-list li": [locks],
      "#run-rows tr": [
        /manual running \d+ s/,
        /webhook ?2 calls ?changed succeeded/,
        /schedule succeeded/,
        /schedule failed exited with code 1 0 ms 1\.2k \$0\.01/,
      ],
      [`#run-rows a[href="${run}"]`]: 1,
      "nav.pages [aria-current=true]": "Agents",
    },
  ],
  [
    agent,
    "broken",
    {
      "#agent-error": "agents/dev/config.toml:4:12 no cron expression",
      "#agent-warning": "credential anthropic_key is missing",
      "#failing":
        /^Failing since .*\d\d:\d\d, 1,078 in a row; last success .*\d\d:\d\d; changed in between: config$/,
      "#failing a@href": [
        `${agent}/runs/dev-aaaaaaaa`,
        `${agent}/runs/dev-bbbbbbbb/changes?to=dev-aaaaaaaa`,
      ],
      "#failing a@aria-label": [null, null],
      "#hosts-list li": [
        /^api\.evil\.test is not in \[network\]\.allow · 3 times · 1 min ago/,
        /^db\.lan:5432 has an address in a private network only/,
        /once · 1 min ago allowed by now$/,
        /can't be reached · 3 times · 1 min ago$/,
        `${attack} can't be read · 3 times · 1 min ago`,
      ],
      "#ticks-note": /paused/,
    },
  ],
  [
    `${agent}?tab=why`,
    "empty",
    { "#why-note": "Nothing kept it from running in the last 7 days." },
  ],
  [
    `${agent}?tab=why`,
    "broken",
    {
      "#why-now": "It is disabled: al resume dev enables it.",
      "#why-list li": [
        `turned away webhook issues opened repos: wants acme/x, got ${attack} 3 times · last 5 min ago`,
        "skipped schedule The tick was skipped: all runners are busy 2 times · last 20 min ago",
        "refused webhook hub wrong signature 4 times · last 1 h ago",
      ],
      "#why-note": /^older deliveries .* not looked at$/,
    },
  ],
  [
    `${agent}?tab=config`,
    "busy",
    { "#config-facts": /Schedule 0 9 \* \* \* At 09:00 time zone UTC/ },
  ],
  [
    `${agent}?tab=config`,
    "broken",
    {
      "#file": readOnly,
      "#config": /No valid configuration yet/,
      "#file .line-of-file.error": /every day/,
      "#file .file-problem": /no cron expr\./,
    },
  ],
  [`${agent}?tab=instructions`, "busy", { ".instructions": "Do the work." }],
  [`${agent}?tab=instructions`, "broken", { "#file": readOnly }],
  [`${agent}/logs`, "empty", { "#log-empty": /^No lines yet/ }],
  [
    `${agent}/logs`,
    "busy",
    {
      "#log .line": 11,
      "#log .run-heading a@href": [`${agent}/logs?instance=${instance}`, run],
      "nav.pages [aria-current=true]": "Agents",
    },
  ],
  [
    run,
    "busy",
    {
      "#state": "succeeded",
      "#trigger": /^Trigger manual .* Prompt Look at <b>this<\/b> Context \{ "issue": 7 \}$/,
      "#result": /"ok": true/,
      "#result strong": "all",
      "#facts": /Model haiku Tokens 1,200 Cost \$0\.01 in 2 calls Version a{12} Commit c{12} /,
      "#host-list": "evil.test is not in [network].allow good.test 512 bytes out, 2.0 KiB in",
      "#called-by a@href": "/dashboard/agents/cat/runs/cat-aaaaaaaa",
      ".call-tree a@href": "/dashboard/agents/owl/runs/owl-aaaaaaaa",
      "#question-list li": [/^asked 10 min ago Deploy 1\.4 to/, /yes · Ada by Slack · 5 min ago$/],
      "#kill": false,
    },
  ],
  [
    `${run}/changes?to=dev-bbbbbbbb`,
    "busy",
    {
      ".changes .removed": "-Say <b>hi</b>.",
      ".changes .added": "+Say bye.",
      ".compared": /dev-cccccccc b{12} c{12} with changes that were not committed/,
    },
  ],
  ["/dashboard/search", "empty", { "#none": /logs of all agents/ }],
  ["/dashboard/search?q=needle", "empty", { "#none": "No lines match." }],
  [
    "/dashboard/search?q=needle",
    "busy",
    {
      "#total": "2 runs so far",
      ".result h2": ["dev-abcdefgh", "lines of no run"],
      "nav [aria-current=page]": "Search",
    },
  ],
  ["/dashboard/search?q=-", "broken", { main: /the search has no word Try again/, "#none": false }],
  ["/dashboard/triggers", "empty", { "#trigger-rows-none": /^Nothing has triggered an agent yet/ }],
  [
    "/dashboard/triggers",
    "busy",
    {
      "#trigger-rows tr >> nth=0": /opened none unmatched – No agent ran: agent dev: actions must/,
      [`#trigger-rows a[href="${run}"]`]: 1,
      "select[name=kind] option": ["Any", "schedule", "webhook", "call", "manual"],
      "#pager": false,
    },
  ],
  [
    "/dashboard/cost",
    "empty",
    { "#empty": /^Nothing spent yet/, "#parts": false, "#forecast": "–" },
  ],
  ["/dashboard/cost", "busy", { "#agents tr": ["dev 1 unpriced $1.25 12 120k"] }],
  ["/dashboard/questions", "empty", { "#open-none": /with the tool al_ask/ }],
  [
    "/dashboard/questions",
    "busy",
    {
      "#open > li": [
        /^dev · dev-cccccccc · asked 10 min ago Deploy .* yes no If no person answers, the run ends in 22 h\.$/,
        /Allow once Allow for this run Always allow Deny If no person answers, the answer is “Deny” in/,
        /^agent-1 · /,
        /How \[U\+202E\]many\? a number from 1 to 9 Answer/,
        /Merge it\? Held by the gates of ops, by whose call it runs\. yes no/,
        /Neither of them, and tell the team why/,
      ],
      "#ended-list > li": [
        /yes · Ada by Slack · 5 min ago$/,
        /… Always allow · ops by a link · 5 min ago$/,
        /no · no person answered in time/,
        /The run ended · no person answered in time/,
        /The run no longer waits for an answer/,
      ],
    },
  ],
  [
    "/dashboard/alerts",
    "empty",
    {
      "#open-none": "Nothing is wrong now.",
      "#targets-none":
        /^The project has no target yet.* al creds add slack_webhook .*\[alerts\.ops\]/,
      "#deliveries-none": "No alert was sent yet.",
      "#filters, #retry-all, #off, #pager": false,
    },
  ],
  [
    "/dashboard/alerts",
    "broken",
    {
      "#open tr": [
        /^runs fail dev 1 h ago 3 times exited with code 1 /,
        /^config is invalid project 1 h ago /,
      ],
      "#targets tr": [
        "ops slack failing 2 1 HTTP 503 Send a test",
        "chat telegram off 0 0 HTTP 410 Send a test",
      ],
      "#deliveries tr": [
        "1 min ago dev failed run exited with code 1 ops waiting in 29 min",
        "2 min ago dev failed run exited with code 1 ops waiting attempt 4 in 29 min HTTP 503 Retry",
        "3 min ago cat failed run exited with code 1 ops dead after 8 attempts HTTP 404 Retry",
        "4 min ago 3 alerts exited with code 1 chat sent",
      ],
      [`#deliveries a[href="${run}"]@aria-label`]: `Run ${instance}`,
      "#total": "2 open · 1 dead",
      "#off": /^Target chat is off since .+: HTTP 410\. Nothing is sent to it\./,
      "nav [aria-current=page]": "Alerts 3 open or undelivered",
    },
  ],
  ["/dashboard/audit", "empty", { "#acts tr": [/dashboard from 127\.0\.0\.1 login$/] }],
  ["/dashboard/audit", "busy", { "#acts tr": 50 }],
  ["/dashboard/audit?act=pause", "busy", { "#acts-none": "No act meets these filters." }],
  ["/dashboard/tokens", "busy", { "#tokens-none": /^No API token yet/ }],
  [agent, "long", { "#hosts-list li": 20, "#hosts-note": "and 10 more" }],
  ["/dashboard/alerts", "long", { "#deliveries tr": 1, "#targets .pill": true }],
  ["/dashboard/tokens", "long", { "#tokens tr": 2 }],
];
