import { expect, test } from "vitest";
import { issueToken, renewIfOld, verifyToken } from "../src/auth/tokens.js";

test("a token ends after its lifetime", async () => {
  const token = issueToken("ada", 0);
  expect(await verifyToken(token, 8 * 3600 + 1)).toBeUndefined();
});

test("an old token is renewed", async () => {
  expect(await renewIfOld({ name: "ada", expires: 100 }, 0)).toBeDefined();
});
