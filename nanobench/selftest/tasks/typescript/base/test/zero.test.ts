import assert from "node:assert";
import { test } from "node:test";

import { double } from "../src/toy.ts";

test("zero", () => assert.strictEqual(double(0), 0));
