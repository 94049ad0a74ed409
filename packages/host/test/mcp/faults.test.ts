import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { othersGoOn, sentenceOf, wordsOf, worksAgain } from "./support/expecting.ts";
import { Place } from "./support/place.ts";
import { processesWith } from "./support/processes.ts";

// Most of these wait rather than work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

describe.concurrent("M4 a server that exits", () => {
  test.for([
    ["die", /code 3.*out of cheese/s],
    ["die-killed", /SIGKILL/],
    ["half", /code 0/],
  ] as const)("in the middle of %s fails that call, and is started again", async ([tool, how], context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("exits-mid-call", "mortal"), place.fake("good"));
    const call = session.start(`mortal__${tool}`);
    const sentence = await sentenceOf(call, "mortal", tool);
    expect(sentence).toMatch(how);
    await othersGoOn(session, Promise.resolve());
    await worksAgain(session, "mortal__echo", "alive");
  });

  test("fails every call that was open, each with its own name", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("exits-mid-call", "mortal"));
    // One write after the other: the first is answered by an exit, the others by nobody.
    const calls = ["die", "echo", "echo"].map((tool) => ({ tool, call: session.start(`mortal__${tool}`) }));
    for (const { tool, call } of calls) await sentenceOf(call, "mortal", tool);
  });

  test("at once, with a word on stderr: connecting says which server, how it ended and what it said", async (context) => {
    const place = new Place(context);
    const licence = place.file("licence");
    const connecting = place.connect(place.fake("exits-at-once", "licensed", licence), place.fake("good"));
    await expect(connecting).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/licensed.*code 1.*no licence key found/s),
    });
    writeFileSync(licence, "paid");
    const session = await vi.waitFor(
      () => place.connect(place.fake("exits-at-once", "licensed", licence), place.fake("good")),
      { timeout: 50_000, interval: 200 },
    );
    expect(wordsOf(await session.call("licensed__echo"))).toContain("licensed");
  });

  test("and cannot be started at all: connecting says so", async (context) => {
    const place = new Place(context);
    const missing = { name: "missing", command: place.file("no-such-program") };
    await expect(place.connect(missing, place.fake("good"))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/missing/),
    });
  });
});

describe.concurrent("M4 a server that cannot be reached any more", () => {
  test("but was before: its tools are offered, their calls say what is wrong, and work once it is back", async (context) => {
    const place = new Place(context, { keepMs: 0 });
    const licence = place.file("licence");
    const server = place.fake("exits-at-once", "licensed", licence);
    writeFileSync(licence, "paid");
    (await place.connect(server)).connected.release();
    await place.noProcesses();
    rmSync(licence);
    const session = await place.connect(server, place.fake("good"));
    expect(session.names).toContain("mcp__licensed__echo");
    expect(await sentenceOf(session.call("licensed__echo"), "licensed", "")).toContain(
      "no licence key found",
    );
    await othersGoOn(session, Promise.resolve());
    writeFileSync(licence, "paid again");
    await worksAgain(session, "licensed__echo", "licensed");
  });
});

describe.concurrent("M4 a server with odd streams", () => {
  test("that closes its output and lives on fails its call, and is replaced", async (context) => {
    const place = new Place(context, { deadlines: { idleMs: 10_000 } });
    const session = await place.connect(place.fake("odd-streams", "odd"), place.fake("good"));
    const call = session.start("odd__close-output");
    await othersGoOn(session, call.result);
    await sentenceOf(call, "odd", "close-output");
    await worksAgain(session, "odd__echo", "in one piece");
  });

  test("that closes its input and lives on fails later calls, and is replaced", async (context) => {
    const place = new Place(context, { deadlines: { idleMs: 10_000 } });
    const session = await place.connect(place.fake("odd-streams", "odd"), place.fake("good"));
    await session.call("odd__close-input");
    const call = session.start("odd__echo");
    await othersGoOn(session, call.result);
    await sentenceOf(call, "odd", "echo");
    await worksAgain(session, "odd__echo", "in one piece");
  });

  test("that does not read does not hold us up, however much we have to say", async (context) => {
    const place = new Place(context, { deadlines: { idleMs: 10_000 } });
    const session = await place.connect(place.fake("hangs-on-everything", "stuck"), place.fake("good"));
    const stuck = session.start("stuck__stick");
    const call = session.start("stuck__echo", { message: "x".repeat(8 << 20) });
    await othersGoOn(session, call.result);
    await sentenceOf(call, "stuck", "echo");
    await sentenceOf(stuck, "stuck", "stick");
    await worksAgain(session, "stuck__echo", "well");
  });

  test("that writes byte by byte, or ends lines as on another system, is understood", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("odd-streams", "odd"));
    expect(await session.call("odd__slices")).toBe("žluťoučký 🐎 \u2028");
    expect(wordsOf(await session.call("odd__crlf"))).toContain("two kinds");
  });
});

describe.concurrent("M4 a server that hangs", () => {
  test("when it is greeted: connecting fails at the deadline and leaves nothing behind", async (context) => {
    const place = new Place(context, { deadlines: { connectMs: 1_000 } });
    await expect(place.connect(place.fake("hangs-on-initialize", "mute"))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/mute/),
    });
    await place.noProcesses();
  });

  test("on a call: it fails when nothing was heard for a while, the server is told, and others go on", async (context) => {
    const place = new Place(context, { deadlines: { idleMs: 10_000 } });
    const notices = place.file("notices");
    const session = await place.connect(place.fake("hangs-on-call", "slow", notices), place.fake("good"));
    const call = session.start("slow__hang");
    await othersGoOn(session, call.result);
    expect(await sentenceOf(call, "slow", "hang")).toMatch(/10 s/);
    await vi.waitFor(() => expect(place.lines("notices")).toEqual(["cancelled"]), { timeout: 50_000 });
    await worksAgain(session, "slow__echo", "still here");
  });

  test("for good, deaf to everything: its calls fail, it is replaced by a new process", async (context) => {
    const place = new Place(context, { deadlines: { idleMs: 10_000 } });
    const session = await place.connect(place.fake("hangs-on-everything", "stuck"), place.fake("good"));
    const call = session.start("stuck__stick");
    await othersGoOn(session, call.result);
    await sentenceOf(call, "stuck", "stick");
    await worksAgain(session, "stuck__echo", "well");
  });

  test("and reports progress for ever: the deadline of the whole call ends it", async (context) => {
    const place = new Place(context, { deadlines: { totalMs: 10_000 } });
    const session = await place.connect(place.fake("progress-for-ever", "busy"), place.fake("good"));
    const call = session.start("busy__busy");
    await othersGoOn(session, call.result);
    expect(await sentenceOf(call, "busy", "busy")).toMatch(/10 s/);
    expect(call.happened.length).toBeGreaterThan(1);
    await worksAgain(session, "busy__echo", "idle");
  });
});

describe.concurrent("M4 a server that floods", () => {
  test("its output with one line without end", async (context) => {
    const place = new Place(context, { maxMessageBytes: 4 << 20 });
    const session = await place.connect(place.fake("floods-stdout", "flood"), place.fake("good"));
    const call = session.start("flood__flood");
    await othersGoOn(session, call.result);
    expect(await sentenceOf(call, "flood", "flood")).toMatch(/4194304 bytes/);
    await worksAgain(session, "flood__echo", "dry");
  });

  test.for(["logs", "list-changes", "progress", "strange-progress"])(
    "notices of the kind %s",
    async (tool, context) => {
      const place = new Place(context, { deadlines: { idleMs: 10_000, totalMs: 10_000 } });
      const session = await place.connect(place.fake("floods-notifications", "flood"), place.fake("good"));
      const call = session.start(`flood__${tool}`);
      await othersGoOn(session, call.result);
      await sentenceOf(call, "flood", tool);
      await worksAgain(session, "flood__echo", "quiet");
    },
  );

  test("its stderr: it is read, so that the server can go on", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("floods-stderr", "chatty"));
    for (let i = 0; i < 5; i++) expect(wordsOf(await session.call("chatty__echo"))).toContain("talkative");
  });

  test("its list of tools, page after page: connecting says so", async (context) => {
    const place = new Place(context);
    await expect(place.connect(place.fake("pages-for-ever", "endless"))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/endless.*no end/s),
    });
  });

  test("its list of tools with the same page: it is read once more and left", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("pages-for-ever", "round", "same"));
    expect(wordsOf(await session.call("round__echo"))).toContain("found it");
  });
});

describe.concurrent("M4 a server that will not go", () => {
  test("is made to, with everything it started", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("will-not-die", "stubborn"));
    expect(wordsOf(await session.call("stubborn__echo"))).toContain("stubborn");
    expect(processesWith(place.mark).length).toBeGreaterThanOrEqual(2);
    session.connected.release();
    await place.hub.close();
    await place.noProcesses();
  });

  test("that dies leaves nothing of what it started either", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("will-not-die", "stubborn"));
    const [head] = processesWith(place.mark)
      .filter((line) => line.includes("will-not-die"))
      .map((line) => Number.parseInt(line, 10));
    if (head === undefined) throw new Error("the server is not there");
    process.kill(head, "SIGKILL");
    await vi.waitFor(
      () => expect(processesWith(place.mark).filter((line) => line.includes(`${head}:`))).toEqual([]),
      { timeout: 50_000 },
    );
    session.connected.release();
  });
});
