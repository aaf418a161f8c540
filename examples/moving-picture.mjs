/**
 * Makes examples/gallery/edit-and-run.png, an animated PNG: an agent's schedule is edited, the dashboard of the running
 * program follows, and the run comes. Takes up to a minute and a half, as it waits for a real schedule.
 *
 *   npm run setup -- tests && node examples/moving-picture.mjs
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { openBrowser } from "../test/helpers/browser.ts";
import { makeProject } from "./gallery/project.mjs";

const root = resolve(import.meta.dirname, "..");
const picture = join(import.meta.dirname, "gallery/edit-and-run.png");
const folder = mkdtempSync(join(tmpdir(), "al-picture-"));
const project = join(folder, "acme");
const config = join(project, "agents/changelog/config.toml");
const size = { width: 1200, height: 580 };
const maxBytes = 1_000_000;

/** Frames with how long each is seen, in ms. */
const frames = [];

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const edges = Buffer.alloc(8);
  edges.writeUInt32BE(data.length, 0);
  edges.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([edges.subarray(0, 4), body, edges.subarray(4)]);
}

function numbers(...values) {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
  return bytes;
}

/** The chunks of a PNG file: https://www.w3.org/TR/png-3/#5Chunk-layout */
function chunksOf(png) {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

/** One animated PNG of pictures with the same size: https://www.w3.org/TR/png-3/#apng-frame-based-animation */
function animated(pictures) {
  let sequence = 0;
  const control = (ms) => {
    const place = numbers(sequence++, size.width, size.height, 0, 0);
    return chunk("fcTL", Buffer.concat([place, Buffer.from([ms >> 8, ms & 255, 3, 232, 0, 0])]));
  };
  const [first] = pictures;
  const parts = [
    first.png.subarray(0, 8),
    chunk("IHDR", chunksOf(first.png)[0].data),
    chunk("acTL", numbers(pictures.length, 0)),
  ];
  pictures.forEach(({ png, ms }, index) => {
    parts.push(control(ms));
    for (const { data } of chunksOf(png).filter(({ type }) => type === "IDAT")) {
      if (index === 0) parts.push(chunk("IDAT", data));
      else parts.push(chunk("fdAT", Buffer.concat([numbers(sequence++), data])));
    }
  });
  return Buffer.concat([...parts, chunk("IEND", Buffer.alloc(0))]);
}

async function startProgram() {
  const args = [join(root, "dist/src/cli/al.js"), "start", "--web-ui", "--headless", "--port", "0"];
  const env = { ...process.env, AL_HOME: join(folder, "home") };
  const child = spawn(process.execPath, [...args, "--project", project], { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  while (!/^API key: +\S+$/m.test(output)) {
    if (child.exitCode !== null) throw new Error(`the program ended:\n${output}`);
    await sleep(50);
  }
  const url = /^Dashboard: +(\S+)\/dashboard$/m.exec(output)?.[1] ?? "";
  const key = readFileSync(/^API key: +(\S+)$/m.exec(output)?.[1] ?? "", "utf8").trim();
  return { url, key, child };
}

/** Runs before the film: the table has successes and a failure. */
async function makeRuns({ url, key }) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const isBusy = async () => {
    const { agents } = await (await fetch(`${url}/control/status`, { headers })).json();
    return agents.some(({ running, queued }) => running + queued > 0);
  };
  for (const name of ["review", "hello", "nightly-report", "review", "hello"]) {
    await fetch(`${url}/control/trigger/${name}`, { method: "POST", headers, body: "{}" });
    do await sleep(500);
    while (await isBusy());
  }
}

const style = `body{margin:0;font:14px/1.5 ui-monospace,monospace;background:#1e2127;color:#d7dae0}
  header{padding:8px 20px;color:#9aa2b1;background:#16181d} pre{margin:0;padding:12px 20px;height:116px;overflow:hidden}
  b{color:#fff;background:#2f5bd8;border-radius:3px;padding:1px 3px} img{display:block;width:100%}`;

/** The editor's part: the lines around the schedule, with what is typed. */
function editorOf(schedule, isSaved) {
  const lines = readFileSync(config, "utf8").split("\n").slice(0, 8).join("\n");
  const shown = lines
    .replaceAll("<", "&lt;")
    .replace(/^schedule = .*$/m, `<b>schedule = ${schedule}</b>`);
  const mark = isSaved ? "" : " ●";
  return `<header>agents/changelog/config.toml${mark}</header><pre>${shown}</pre>`;
}

async function film(program) {
  const browser = await openBrowser();
  const dashboard = await browser.newPage({ viewport: { width: size.width, height: 700 } });
  const canvas = await browser.newPage({ viewport: size });
  await dashboard.context().request.post(`${program.url}/login`, { data: { key: program.key } });
  await dashboard.goto(`${program.url}/dashboard`);
  await dashboard.waitForSelector("body[data-connection=live]");
  const row = dashboard.locator('tr[data-agent="changelog"]').first();
  await row.waitFor();
  const shoot = async (schedule, ms, isSaved = true) => {
    const table = await dashboard.locator("main table").first().boundingBox();
    const clip = { x: 0, y: Math.max(0, table.y - 70), width: size.width, height: 410 };
    const seen = (await dashboard.screenshot({ clip })).toString("base64");
    const body = `${editorOf(schedule, isSaved)}<img src="data:image/png;base64,${seen}">`;
    await canvas.setContent(`<!doctype html><style>${style}</style>${body}`);
    frames.push({ png: await canvas.screenshot(), ms });
  };
  await shoot('"0 6 * * 1"', 2200);
  for (const typed of ['"', '"* *', '"* * * *', '"* * * * *"']) await shoot(typed, 350, false);
  // Early in a minute, so that the change is seen before the run.
  while (new Date().getSeconds() > 40) await sleep(250);
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace(/^schedule = .*$/m, 'schedule = "* * * * *"'));
  await sleep(1_500);
  await shoot('"* * * * *"', 2500);
  await row.getByText("running").first().waitFor({ timeout: 90_000 });
  for (let count = 0; count < 3; count++) {
    await shoot('"* * * * *"', 900);
    await sleep(700);
  }
  await row.getByText("running").first().waitFor({ state: "detached", timeout: 60_000 });
  await shoot('"* * * * *"', 3500);
  await browser.close();
}

try {
  makeProject(project);
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace(/^schedule = .*$/m, 'schedule = "0 6 * * 1"'));
  const program = await startProgram();
  try {
    await makeRuns(program);
    await film(program);
  } finally {
    program.child.kill("SIGINT");
    await new Promise((end) => program.child.on("exit", end));
  }
  const file = animated(frames);
  if (file.length > maxBytes) throw new Error(`${file.length} bytes; at most ${maxBytes} please`);
  writeFileSync(picture, file);
  console.log(`${picture}  ${frames.length} frames, ${Math.round(file.length / 1024)} KiB`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
