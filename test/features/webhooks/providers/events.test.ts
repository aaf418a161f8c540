import { readSample, samplesOf } from "../deliveries.ts";

test.each(samplesOf("events.jsonl"))(
  "the webhook payload of $what is read as events.jsonl says",
  (sample) => expect(readSample(sample)).toMatchObject(sample.read ?? {}),
);
