import { beforeEach, describe, expect, test } from "vitest";
import { postgresServer, serviceSuite } from "../../../../scripts/services/index.ts";
import { insertRuns, journal, refused, wake, wakes } from "../../src/store/conformance/behaviour.ts";
import { postgres, rows, type Store } from "../../src/store/index.ts";
import { cutProxy, type Fate } from "./support/cut-proxy.ts";
import { closed } from "./support/places.ts";

const delivery = (run_id: string, ord: number, text = "") => ({
  run_id,
  ord,
  seq: ord,
  body: JSON.stringify({ v: 1, text }),
  fence: 1,
});

await serviceSuite("PostgreSQL that fails", postgresServer, (server) => {
  let url = "";
  beforeEach(async () => {
    url = await server.createDatabase();
  });

  async function opened(target: string | { connectionString: string }): Promise<Store> {
    const store = closed(postgres(target, { onNotice: () => undefined }));
    await store.open();
    return store;
  }

  describe("a connection that breaks at the worst moment", () => {
    /** The first message that holds the text meets this fate; everything else passes. */
    const once = (text: string, fate: Fate) => {
      let met = false;
      return (message: string): Fate => {
        if (met || !message.includes(text)) return "pass";
        met = true;
        return fate;
      };
    };

    test.each<Fate>(["lose-request", "lose-answer", "hang"])(
      "COMMIT of a write (%s): there, once",
      async (fate) => {
        const proxy = await cutProxy(url);
        const store = await opened({
          connectionString: proxy.url,
          // The server ends a session that hangs; it must not end one of a process that gets no turn.
          idle_in_transaction_session_timeout: fate === "hang" ? 2_000 : 60_000,
        } as never); // more of what pg takes
        // Not the COMMIT of a read that is still on its way.
        const commit = once("COMMIT\0", fate);
        let writing = false;
        proxy.decide((message) => {
          writing ||= message.includes('insert into "wakes"');
          return writing ? commit(message) : "pass";
        });
        let runs = 0;
        const answer = await store.write(function* (db) {
          runs += 1;
          yield* wake("paid")(db);
          return `try ${runs}`;
        });
        expect(answer).toBe(fate === "lose-answer" ? "try 1" : "try 2");
        expect(await wakes(await opened(url))).toEqual(["paid"]);
      },
    );

    test.each<Fate>(["lose-request", "lose-answer", "hang"])("an append (%s): there, once", async (fate) => {
      const proxy = await cutProxy(url);
      const store = await opened(proxy.url);
      await store.write(insertRuns("r", "s"));
      proxy.decide(once("INSERT INTO commits", fate));
      const landed = await Promise.all([
        store.append(delivery("r", 1)),
        store.append(delivery("s", 1)),
        store.append({ ...delivery("s", 2), fence: 9 }),
      ]);
      expect(landed).toEqual([true, true, false]);
      expect(await journal(store, "r")).toHaveLength(1);
      expect(await journal(store, "s")).toHaveLength(1);
    });

    test("X4 an append that landed before a claim is acknowledged, though its answer came after", async () => {
      const proxy = await cutProxy(url);
      const [store, claimant] = [await opened(proxy.url), await opened(url)];
      await store.write(insertRuns("r"));
      let claimed: Promise<unknown> = Promise.resolve();
      const losing = once("INSERT INTO commits", "lose-answer");
      proxy.decide((message) => {
        const fate = losing(message);
        if (fate === "lose-answer")
          claimed = new Promise((resolve) => setTimeout(resolve, 5)).then(() =>
            claimant.write((db) => rows(db.updateTable("runs").set({ fence: 2 }))),
          );
        return fate;
      });
      const landed = await store.append(delivery("r", 1));
      await claimed;
      expect(await journal(store, "r")).toHaveLength(landed ? 1 : 0);
    });

    test("a store that is closed before it can ask says that the outcome is not known", async () => {
      const proxy = await cutProxy(url);
      const store = await opened(proxy.url);
      let writing = false;
      const cut = new Promise<void>((resolve) => {
        proxy.decide((message) => {
          writing ||= message.includes('insert into "wakes"');
          if (!writing) return "pass";
          if (!message.includes("COMMIT\0"))
            return message.includes('insert into "wakes"') ? "pass" : "lose-request";
          resolve();
          return "lose-answer";
        });
      });
      const write = refused(
        store.write(wake("paid")),
        "closed",
        /answer.*was lost.*Look whether the write is there/,
      );
      await cut;
      await store.close();
      expect((await write).unknown).toBe(true);
      expect(await wakes(await opened(url))).toEqual(["paid"]);
    });

    test("a delivery that was there before with another body is a conflict, even when an answer was lost", async () => {
      const proxy = await cutProxy(url);
      const store = await opened(proxy.url);
      await store.write(insertRuns("r", "s"));
      await store.append(delivery("r", 1, "first"));
      proxy.decide(once("INSERT INTO commits", "lose-request"));
      const [conflict, fine] = await Promise.allSettled([
        store.append(delivery("r", 1, "second")),
        store.append(delivery("s", 1)),
      ]);
      expect(conflict).toMatchObject({ status: "rejected", reason: { fault: "conflict" } });
      expect(fine).toEqual({ status: "fulfilled", value: true });
    });

    test("a read is read again", async () => {
      const proxy = await cutProxy(url);
      const store = await opened(proxy.url);
      await store.write(wake("here"));
      proxy.decide(once('from "wakes"', "lose-answer"));
      expect(await wakes(store)).toEqual(["here"]);
    });

    test("somebody who listens is connected again, and told in case of what was missed", async () => {
      const proxy = await cutProxy(url);
      const [here, there] = [await opened(proxy.url), await opened(url)];
      proxy.decide(once("LISTEN", "lose-answer"));
      const heard = new Promise<void>((resolve) => {
        const stop = here.onChange(async () => {
          if ((await wakes(here)).length === 0) return;
          stop();
          resolve();
        });
      });
      await there.write(wake("decided"));
      await heard;
    });
  });

  test("a server that is not there is named, with what to do", async () => {
    const gone = closed(postgres("postgres://postgres@127.0.0.1:1/x", { openWithinMs: 300 }));
    const error = await refused(
      gone.open(),
      "unavailable",
      /127\.0\.0\.1:1\/x cannot be reached.*ECONNREFUSED.*host and port/,
    );
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("an outage is told once, and what waited is done when it is over", async () => {
    const proxy = await cutProxy(url);
    const notices: string[] = [];
    const store = closed(
      postgres(proxy.url, {
        onNotice: (notice) => {
          notices.push(notice);
          proxy.decide(() => "pass");
        },
      }),
    );
    await store.open();
    proxy.decide(() => "lose-request");
    await Promise.all([store.write(wake("a")), store.write(wake("b")), wakes(store)]);
    expect((await wakes(store)).sort()).toEqual(["a", "b"]);
    expect(notices).toEqual([
      expect.stringMatching(/has not been reachable for over a second.*check that the server runs/),
    ]);
  });

  test("a store that is closed during an outage rejects what waits", async () => {
    const proxy = await cutProxy(url);
    const store = await opened(proxy.url);
    proxy.decide(() => "lose-request");
    const write = refused(store.write(wake("never")), "closed", /is closed, so this was not done/);
    const append = refused(
      store.append(delivery("r", 1)),
      "closed",
      /is closed, so|answer.*was lost.*Look whether/,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    await store.close();
    expect((await write).unknown, "it never came to a COMMIT").toBe(false);
    await append;
    expect(await wakes(await opened(url))).toEqual([]);
  });

  test("restarted and killed again and again under load: what is acknowledged is there, exactly once", async () => {
    const notices: string[] = [];
    const store = closed(postgres(url, { onNotice: (notice) => notices.push(notice) }));
    await store.open();
    const lanes = Array.from({ length: 12 }, (_, i) => `r${i}`);
    await store.write(insertRuns(...lanes));
    const acknowledged = { wakes: [] as string[], deliveries: new Map<string, number>() };
    let over = false;
    const load = lanes.map(async (run, lane) => {
      for (let ord = 1; !over; ord += 1) {
        if (lane % 3 === 0) {
          await store.write(wake(`${run} ${ord}`));
          acknowledged.wakes.push(`${run} ${ord}`);
        } else {
          const beside = lane % 3 === 1 ? wake(`${run} ${ord}`) : undefined;
          expect(await store.append(delivery(run, ord), beside)).toBe(true);
          acknowledged.deliveries.set(run, ord);
          if (beside !== undefined) acknowledged.wakes.push(`${run} ${ord}`);
        }
      }
    });
    const going = async () => {
      const before = acknowledged.wakes.length;
      while (!over && acknowledged.wakes.length < before + 30)
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    for (let round = 0; round < 4; round += 1) {
      await going();
      if (round % 2 === 1) await server.kill();
      await server.restart();
    }
    await going();
    over = true;
    await Promise.all(load);

    const there = await wakes(store);
    expect(new Set(there).size, "none twice").toBe(there.length);
    expect([...there].sort(), "none lost, and none that nobody was told of").toEqual(
      [...acknowledged.wakes].sort(),
    );
    for (const [run, last] of acknowledged.deliveries) expect(await journal(store, run)).toHaveLength(last);
  }, 120_000);
});
