// The runtime of the client: the verbs are those of operations.js, which is made from the service's document.
import operations from "./operations.js";

const PASSING = new Set([429, 503]);
const LONGEST_WAIT = 30_000; // milliseconds the service may ask to be waited for

export class EpisodicError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `the service answered ${status}`);
    this.name = "EpisodicError";
    this.status = status;
    this.problem = problem;
  }
}

class Asking {
  constructor(url, { key, timeout = 60_000, tries = 4, fetch: send = fetch } = {}) {
    if (!/^https?:\/\//.test(url)) throw new TypeError(`name the service as http(s)://HOST:PORT, not '${url}'`);
    this.url = url.replace(/\/+$/, "");
    this.headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    this.timeout = timeout;
    this.tries = tries;
    this.send = send;
  }

  async response(operation, user, asked = {}) {
    const rest = { ...asked };
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => {
      const value = name === "user" ? user : rest[name];
      if (value === undefined) throw new TypeError(`'${name}' is missing`);
      if (name !== "user") delete rest[name];
      return encodeURIComponent(value);
    });
    const query = new URLSearchParams();
    for (const name of operation.query ?? []) {
      for (const value of [rest[name] ?? []].flat()) query.append(name, value);
      delete rest[name];
    }
    const headers = { ...this.headers };
    for (const name of operation.header ?? []) {
      const given = name.toLowerCase().replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
      if (rest[given] !== undefined) headers[name] = rest[given];
      delete rest[given];
    }
    const init = { method: operation.method, headers };
    if (operation.file) {
      init.body = rest.body;
      init.duplex = "half";
    } else if (operation.method !== "GET" && operation.method !== "DELETE") {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(rest);
    } else if (Object.keys(rest).length) {
      throw new TypeError(`nobody knows '${Object.keys(rest)[0]}'`);
    }
    const text = query.toString();
    return this.patiently(`${this.url}${path}${text ? `?${text}` : ""}`, init, operation);
  }

  async patiently(url, init, operation) {
    for (let tried = 1; ; tried += 1) {
      const signal = operation.lines || operation.file ? undefined : AbortSignal.timeout(this.timeout);
      const response = await this.send(url, { ...init, signal }).catch((error) => {
        const why = error.cause?.code ?? error.cause?.message ?? error.message;
        throw new Error(`no answer from ${this.url} (${why}); is the service running?`, { cause: error });
      });
      if (response.ok) return response;
      const again = PASSING.has(response.status) && tried < this.tries && !operation.file;
      if (!again) {
        const problem = await response.json().catch(() => ({}));
        throw new EpisodicError(response.status, problem);
      }
      await response.body?.cancel();
      const wait = Math.max(1000 * (Number(response.headers.get("retry-after")) || 0), 200 * 2 ** tried);
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, LONGEST_WAIT)));
    }
  }

  async json(operation, user, asked) {
    const response = await this.response(operation, user, asked);
    const text = await response.text();
    return text ? JSON.parse(text) : undefined;
  }

  async *lines(operation, user, asked) {
    const response = await this.response(operation, user, asked);
    let left = "";
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (left + piece).split("\n");
      left = lines.pop();
      yield* lines;
    }
    if (left) yield left;
  }
}

function plant(tree, rows, asking, user) {
  for (const [path, operation] of Object.entries(rows)) {
    const [name, room] = path.split(".").reverse();
    const verb = operation.lines
      ? (asked) => asking.lines(operation, user, asked)
      : (asked) => asking.json(operation, user, asked);
    const place = room === undefined ? tree : (tree[room] ??= {});
    place[name] = verb;
  }
}

export class UserMemory {
  constructor(asking, name) {
    if (typeof name !== "string" || !name.trim()) throw new TypeError("name whose memory it is");
    plant(this, operations.user, asking, name);
  }
}

export class SpaceMemory {}

export class Client extends SpaceMemory {
  #asking;

  constructor(url = "http://127.0.0.1:8765", options = {}) {
    super();
    this.#asking = new Asking(url, options);
    plant(this, operations.space, this.#asking);
  }

  user(name) {
    return new UserMemory(this.#asking, name);
  }
}

export async function* all(list, asked = {}) {
  let cursor;
  do {
    const page = await list(cursor === undefined ? asked : { ...asked, cursor });
    yield* page.items;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}
