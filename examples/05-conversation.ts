// A conversation goes on from the result of the turn before, and survives as JSON.
import { Agent, Conversation } from "trackside";
import { scriptedModel } from "trackside/testing";

const model = scriptedModel(["Nice to meet you, Ann.", "Your name is Ann."]);
const agent = new Agent({ name: "friend", model });

const first = await agent.run("I am Ann.");
const stored = JSON.stringify(first.conversation);

const conversation = Conversation.fromJSON(JSON.parse(stored));
const second = await agent.run("Who am I?", { conversation });
console.log(second.output, `(${conversation.messages.length} messages)`);
