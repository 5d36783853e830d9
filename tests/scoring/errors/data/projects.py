"""Small projects in Python and JavaScript, broken in every way that is to be recognised: files by path."""

from __future__ import annotations

import json

PYTHON = {
    "shop.py": """
import abc


class Basket:
    items = (1,)

    def add(self, item, *, count=1):
        return count


class Shelf(abc.ABC):
    @abc.abstractmethod
    def put(self): ...


def total(items):
    return sum(items)


def nothing():
    return None
""",
    "test_calls.py": """
from unittest import mock

import pytest
import shop

basket = shop.Basket()


def test_attribute_of_an_object(): basket.remove(1)
def test_attribute_of_a_class(): shop.Basket.shared
def test_attribute_of_a_module(): shop.discount([])
def test_attribute_of_none(): shop.nothing().items
def test_attribute_that_is_patched(): mock.patch("shop.discount").start()
def test_attribute_that_is_replaced(monkeypatch): monkeypatch.setattr(shop, "discount", 1)
def test_name(): discount([])
def test_name_before_its_value():
    later
    later = 1
def test_import_of_a_name(): from shop import discount
def test_import_of_a_module(): import shop.prices
def test_import_of_a_package(): import nothing_like_it.deep
def test_unexpected_argument(): basket.add(1, colour=2)
def test_missing_argument(): basket.add()
def test_too_many_arguments(): shop.total(1, 2)
def test_abstract_class(): shop.Shelf()
def test_operands(): "a" + 1
def test_operand_that_is_none(): shop.nothing() + 1
def test_no_function(): basket.items()
def test_no_iterable(): shop.total(1)
def test_assertion(): assert shop.total([1]) == 2
def test_value(): int("x")
def test_another_exception_was_expected():
    with pytest.raises(ValueError):
        basket.remove(1)


@pytest.fixture
def broken(): return shop.discount


def test_fixture(broken): pass
def test_no_fixture(absent): pass
""",
    "test_import_name.py": "from shop import discount\n\n\ndef test_it(): pass\n",
    "test_import_module.py": "import shopping.prices\n\n\ndef test_it(): pass\n",
    "test_at_once.py": "import shop\n\nvalue = shop.discount([])\n\n\ndef test_it(): pass\n",
    "test_syntax.py": "value = 1 +\n\n\ndef test_it(): pass\n",
}
PYTHON_CONFTEST = {
    "shop.py": PYTHON["shop.py"],
    "conftest.py": "from shop import discount\n",
    "test_it.py": "def test_it(): pass\n",
}


def _tsconfig(**options: object) -> dict[str, str]:
    return {"tsconfig.json": json.dumps({"compilerOptions": {"strict": True, **options}})}


SHOP = """
EXPORT class Basket { items = 1; add(item) { return item; } }
EXPORT function total(items) { return items.length; }
EXPORT const nothing = undefined;
"""
ES_SHOP = {"shop.mjs": SHOP.replace("EXPORT", "export")}
CALLS = """
const basket = new shop.Basket();
test("method of an object", () => basket.remove(1));
test("function of a module", () => shop.discount([]));
test("class of a module", () => new shop.Shelf());
test("name", () => discountOf([]));
test("read from undefined", () => shop.nothing.items);
test("call of undefined", () => [1].map(shop.nothing));
test("no iterable", () => { const [first] = basket; });
test("class without new", () => shop.Basket());
test("argument of another type", () => path.join(1));
test("module in a test", () => import("./prices.mjs"));
test("package in a test", () => import("no-such-package-of-ours"));
test("assertion", () => assert.equal(shop.total([1]), 2));
test("another error was expected", () => assert.throws(() => basket.remove(1), RangeError));
test("quoted error", () => assert.doesNotThrow(() => basket.remove(1)));
"""
ES_HEAD = 'import assert from "node:assert";\nimport path from "node:path";\nimport * as shop from "./shop.mjs";\n'


def es_files(test: str, name: str) -> dict[str, str]:
    """Files of tests, called by ``name``, and what they test, as ES modules; ``test`` imports the runner."""
    return {
        **ES_SHOP,
        name.format("calls"): test + ES_HEAD + CALLS,
        name.format(
            "import_name"
        ): f'{test}import {{ discount }} from "./shop.mjs";\ntest("it", () => discount([]));\n',
        name.format("import_module"): f'{test}import "./prices.mjs";\ntest("it", () => {{}});\n',
        name.format("import_package"): f'{test}import "no-such-package-of-ours";\ntest("it", () => {{}});\n',
        name.format(
            "at_once"
        ): f'{test}import * as shop from "./shop.mjs";\nshop.discount([]);\ntest("it", () => {{}});\n',
    }


VITEST = {
    **es_files('import { test, vi, expect } from "vitest";\n', "{}.test.mjs"),
    "mock.test.mjs": """
import { test, vi } from "vitest";
import * as shop from "./shop.mjs";
vi.mock("./shop.mjs", () => ({ total: () => 1 }));
test("export that a mock has not", () => new shop.Basket());
test("spy on what is not there", () => vi.spyOn({}, "discount"));
""",
}
TYPED_SHOP = """
export interface Item { price: number; name: string }
export abstract class Shelf { abstract put(): void }
export class Basket { private seen = 1; items: Item[] = []; add(item: Item): number { return item.price; } }
const hidden = 1;
"""
TYPES = """
import { Basket, Item, Shelf } from "./shop";
import * as shop from "./shop";
import { Discount } from "./shop";
import { hidden } from "./shop";
import Standard from "./shop";
import "./side";
import { Price } from "./prices";
const basket = new Basket();
basket.remove(1);
basket.item;
shop.discount([]);
discountOf([]);
let price: Amount;
let typed: shop.Amount;
const unknown: Item = { price: 1, name: "", colour: 2 };
basket.add("text");
basket.add({ price: 1 });
basket.add();
const text: string = basket.add({ price: 1, name: "" });
const item: Item = { price: 1 };
new Shelf();
class Wall extends Shelf {}
class Other implements Item { price = "" }
basket.items();
basket.seen;
"text" - 1;
const maybe: Item | undefined = basket.items.find(() => true);
maybe.price;
function implicit(argument) {}
"""
TSC = {
    "shop.ts": TYPED_SHOP,
    "use.ts": TYPES,
    **_tsconfig(module="nodenext", noEmit=True, skipLibCheck=True),
}
TYPECHECK = {
    "shop.ts": TYPED_SHOP,
    **_tsconfig(module="esnext", moduleResolution="bundler", noEmit=True, skipLibCheck=True),
    "use.test-d.ts": """
import { expectTypeOf, test } from "vitest";
import { Basket } from "./shop";
import * as shop from "./shop";
const basket = new Basket();
test("member", () => { basket.remove(1); });
test("export", () => { shop.discount([]); });
test("name", () => { discountOf([]); });
test("argument", () => { basket.add("text"); });
test("arguments", () => { basket.add(); });
test("type", () => { const text: string = basket.add({ price: 1, name: "" }); });
""",
}
CJS_CALLS = """
const assert = require("assert");
const path = require("path");
const shop = require("./shop");
""" + CALLS.replace('import("./prices.mjs")', 'require("./prices")').replace("import(", "require(")
JEST = {
    "package.json": "{}",
    "jest.config.json": '{"transform": {"\\\\.ts$": ["ts-jest", {}]}}',
    "shop.js": SHOP.replace("EXPORT class", "exports.Basket = class")
    .replace("EXPORT function total", "exports.total = function")
    .replace("EXPORT const ", "exports."),
    "calls.test.js": CJS_CALLS
    + 'test("spy on what is not there", () => jest.spyOn(shop, "discount"));\n'
    + 'test("expectation", () => expect(shop.total([1])).toBe(2));\n',
    "import_module.test.js": 'require("./prices");\ntest("it", () => {});\n',
    "at_once.test.js": 'require("./shop").discount([]);\ntest("it", () => {});\n',
    "shop.ts": TYPED_SHOP,
    "member.test.ts": 'import { Basket } from "./shop";\ntest("it", () => new Basket().remove(1));\n',
    "argument.test.ts": 'import { Basket } from "./shop";\ntest("it", () => { new Basket().add("text"); });\n',
    "export.test.ts": 'import { discount } from "./shop";\ntest("it", () => discount([]));\n',
    "module.test.ts": 'import { Price } from "./prices";\ntest("it", () => { new Price(); });\n',
    **_tsconfig(module="commonjs", esModuleInterop=True, types=["jest"]),
}
_JEST_OF_MODULES = {"transform": {}, "testMatch": ["**/*.test.mjs"], "moduleFileExtensions": ["mjs", "js"]}
JEST_ES = {
    "package.json": json.dumps({"type": "module", "jest": _JEST_OF_MODULES}),
    **es_files("", "{}.test.mjs"),
}
MOCHA = {
    "shop.js": JEST["shop.js"],
    "calls.js": f"const test = it;\n{CJS_CALLS}"
    + 'describe("hook", () => { before(() => shop.discount([])); it("kept from running", () => {}); });\n',
}
MOCHA_ES = {**ES_SHOP, "spec.mjs": 'import { discount } from "./shop.mjs";\nit("it", () => discount([]));\n'}
MOCHA_TS = {
    "shop.ts": TYPED_SHOP,
    "spec.ts": 'import { Basket } from "./shop";\nnew Basket().remove(1);\nnew Basket().add("text");\n',
    **_tsconfig(module="commonjs", types=[]),
}
NODE = es_files('import test from "node:test";\n', "{}.test.mjs")
