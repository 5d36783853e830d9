import assert from "node:assert";
import { test } from "node:test";

import { double } from "../src/toy.ts";

test("two", () => assert.strictEqual(double(2), 4));
test("three", () => assert.deepStrictEqual([double(3)], [6]));
