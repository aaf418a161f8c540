import { alertMessage } from "../../../src/features/alerts/alert-messages.ts";
import { anAlert } from "./rules/alerts.ts";
import { noQuestions } from "./samples.ts";

const messageOf = (origin: string | null, topic: "runs" | "budget") =>
  alertMessage({
    projectName: "acme",
    origin: () => origin,
    timezone: () => "UTC",
    questions: noQuestions,
    filesOf: () => 3,
  })({ id: "1", target: "ops", alert: anAlert({ topic, instanceId: "dev-aaaaaaaa" }) });

describe("the message of an alert", () => {
  test("about a run links to the files that it left", () => {
    const text = "3 files: https://al.example.org/dashboard/agents/dev/runs/dev-aaaaaaaa#files";
    expect(messageOf("https://al.example.org", "runs").files).toEqual([{ label: "Files", text }]);
  });

  test("names the command for them without a dashboard", () => {
    const text = "3 files: al files dev-aaaaaaaa";
    expect(messageOf(null, "runs").files).toEqual([{ label: "Files", text }]);
  });

  test("about anything else names no files", () => {
    expect(messageOf(null, "budget").files).toEqual([]);
  });
});
