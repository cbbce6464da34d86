// The room of scripts about leave: given with an approval, given beforehand, taken back, refused for good.

import { call, calls, say } from "../../scripted/turns.ts";
import { asking, type DriverScript, scene, until, waitingForWord } from "./scenes.ts";

export const grantScripts: readonly DriverScript[] = [
  {
    name: "a denial that ends the run",
    agent: scene(
      () => [
        calls([
          ["send_mail", { text: "a" }],
          ["send_mail", { text: "b" }],
        ]),
        say("never"),
      ],
      () => [asking],
    ),
    play: async (session) => {
      await session.send("go");
      await session.deny((await session.pending())[0]?.id ?? "", "stop it", { stop: true });
    },
  },
  {
    name: "a grant that is given, used, and taken back",
    agent: scene(
      () => [call("send_mail", { text: "a" }), say("one"), call("send_mail", { text: "a" }), say("two")],
      () => [asking],
    ),
    play: async (session, at) => {
      await session.allow({ id: "mails", tool: "send_mail" });
      await until(at, (type) => type === "allowed");
      await session.send("go");
      await session.revoke("mails");
      await until(at, (type) => type === "revoked");
      await session.send("on");
      await session.approve((await session.pending())[0]?.id ?? "");
    },
  },
  {
    name: "a word to a run that waits for an approval, and one taken back",
    agent: scene(
      () => [call("send_mail", { text: "a" }), say("done"), say("and more")],
      () => [asking],
    ),
    play: async (session, at) => {
      await session.send("go");
      await session.followUp("and then", "follow-1");
      await session.followUp("and not", "follow-2");
      await until(at, (type) => type === "queued", 2);
      await session.withdraw("follow-2");
      await until(at, (type) => type === "withdrawn");
      await session.approve((await session.pending())[0]?.id ?? "");
    },
  },
  {
    name: "an approval while another call still works",
    agent: scene(
      () => [
        calls([
          ["wait", { text: "a" }],
          ["send_mail", { text: "b" }],
        ]),
        say("done"),
      ],
      (at) => [waitingForWord(at), asking],
    ),
    play: async (session, at) => {
      const running = session.send("go");
      await at.heard("at work");
      await until(at, (type) => type === "approval_asked");
      const approved = session.approve((await session.pending())[0]?.id ?? "");
      await until(at, (type) => type === "approval_given");
      at.say("go on");
      await Promise.all([running, approved]);
    },
  },
];
