// Run against a server: node client.test.mjs URL [KEY] (tests/faces/test_typescript.py starts one).
import assert from "node:assert/strict";
import { Client, EpisodicError, all } from "./client.js";

const [url, key] = process.argv.slice(2);
const client = new Client(url, { key });
const ana = client.user("ana/wörk");

const first = await ana.add({
  messages: [
    { role: "user", content: "I am moving to Lisbon in May", id: "m1", timestamp: "2026-03-02T09:00:00Z" },
    { role: "assistant", content: "How exciting!" },
  ],
  thread: "move/2",
  idempotencyKey: "k1",
  wait: true,
});
assert.deepEqual(first.receipts.map((one) => one.added), [true, true]);
const again = await ana.add({ messages: [{ content: "I am moving to Lisbon in May", id: "m1" }], thread: "move/2" });
assert.equal(again.receipts[0].added, false);
assert.match(again.operation.id, /^op_/);
assert.match((await ana.jobs.operation({ operation_id: again.operation.id })).state, /running|done/);

for (let n = 0; n < 5; n += 1) await ana.add({ messages: [{ content: `Something new ${n}` }], thread: `t${n}` });
const threads = [];
for await (const thread of all(ana.threads.list, { limit: 2 })) threads.push(thread.origin);
assert.deepEqual(threads.sort(), ["move/2", "t0", "t1", "t2", "t3", "t4"]);
assert.equal((await ana.threads.get({ name: "move/2" })).thread.origin, "move/2");
assert.equal((await ana.threads.rename({ name: "move/2", title: "The move" })).title, "The move");

const answer = await ana.search({ query: "where is Ana moving?", limit: 2 });
assert.ok(answer.hits[0].observations.some((one) => one.text.includes("Lisbon")));
assert.ok((await ana.recall({ query: "moving to Lisbon" })).hits[0].evidence.length);
assert.ok((await ana.context({ message: "When do I move to Lisbon?" })).text.includes("Lisbon"));
assert.equal(await ana.threads.setTimeout({ minutes: 45, channel: "sms" }), undefined);

const lines = [];
for await (const line of ana.export()) lines.push(JSON.parse(line));
assert.equal(lines[0].counts.observation, 7);
const report = await client.user("bo").importFile({ body: lines.map((one) => JSON.stringify(one)).join("\n") });
assert.equal(report.added, 7);
assert.deepEqual((await client.users()).items, ["ana/wörk", "bo"]);

const refused = (status, told) => (error) =>
  error instanceof EpisodicError && error.status === status && error.message.includes(told);
await assert.rejects(client.user("nobody").stats(), refused(404, "nobody"));
await assert.rejects(ana.search({ query: " " }), refused(400, "empty"));
await assert.rejects(ana.search({ query: "x", colour: "red" }), refused(422, "colour"));
await assert.rejects(
  ana.add({ messages: [{ content: "Another" }], thread: "move/2", idempotencyKey: "k1" }),
  refused(409, "k1"),
);
await assert.rejects(ana.threads.get({}), TypeError);
await assert.rejects(ana.episodes.list({ colour: "red" }), TypeError);
assert.throws(() => client.user(" "), TypeError);
assert.equal((await ana.eraseThreads({ thread: "t0", dry_run: true })).state, "preview");
assert.equal((await ana.eraseUser()).what, "user");

// what passes is asked for again; what does not is not
let asked = 0;
const busy = new Client("http://127.0.0.1:1", {
  fetch: async () => ((asked += 1) < 3 ? new Response("{}", { status: 503 }) : Response.json({ items: [], next: null })),
});
assert.deepEqual((await busy.users()).items, []);
assert.equal(asked, 3);
const stopped = new Client("http://127.0.0.1:1");
await assert.rejects(stopped.users(), /no answer from http:\/\/127\.0\.0\.1:1 \(.+\); is the service running/);
console.log("the client holds");
