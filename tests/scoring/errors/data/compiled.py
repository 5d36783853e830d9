"""Small projects in Go, Rust and Java, broken in every way that is to be recognised: files by path."""

from __future__ import annotations

GO = {
    "go.mod": "module example.org/shop\n\ngo 1.21\n",
    "shop.go": """package shop

type Basket struct{ Items []int }

func (b *Basket) Add(item int) int { return item }

type Shelf interface{ Put() }

func Total(items []int) int { return len(items) }

func hidden() {}
""",
}
GO_NAMES = {
    **GO,
    "shop_test.go": """package shop

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	Discount(nil)
	strings.Reverse("x")
	b := &Basket{}
	b.Remove(1)
	b.Item = nil
	_ = Basket{Colour: 1}
	var p Price
}
""",
}
GO_TYPES = {
    **GO,
    "shop_test.go": """package shop

import "testing"

func TestTypes(t *testing.T) {
	b := &Basket{}
	b.Add("text")
	b.Add()
	b.Add(1, 2)
	var s Shelf = b
	var x string = Total(nil)
	y, z := Total(nil)
	_ = x + 1
	_ = Basket{1, 2}
	Total(nil)()
}
""",
}


def go_importing(package: str) -> dict[str, str]:
    """A test that imports a package and calls something of it."""
    test = f'package shop\n\nimport (\n\t"testing"\n\tgone "{package}"\n)\n\n'
    return {**GO, "shop_test.go": f"{test}func TestIt(t *testing.T) {{ gone.It() }}\n"}


GO_UNEXPORTED = {
    **GO,
    "use/use_test.go": 'package use\n\nimport (\n\t"testing"\n\t"example.org/shop"\n)\n\n'
    "func TestIt(t *testing.T) {\n\tshop.hidden()\n\tshop.Hidden()\n}\n",
}
GO_PANIC = {
    **GO,
    "shop_test.go": """package shop

import "testing"

func TestConversion(t *testing.T) {
	var any interface{} = &Basket{}
	any.(Shelf).Put()
}
""",
}

CARGO = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
RUST_SHOP = """
pub struct Basket { pub items: Vec<u32>, seen: u32 }
pub enum Kind { Round }
pub trait Shelf { fn put(&self); fn take(&self) -> u32; }
impl Basket { pub fn add(&self, item: u32) -> u32 { item } }
pub fn total(items: &[u32]) -> u32 { items.len() as u32 }
mod inner { fn hidden() {} }
"""
RUST_NAMES = {
    "Cargo.toml": CARGO,
    "src/lib.rs": RUST_SHOP,
    "tests/names.rs": """
use shop::Discount;
use shop::prices::Price;
use nothing_like_it::Thing;
mod absent;
struct Own;
impl shop::Shelf for Own { fn put(&self) {} fn take(&self) -> u32 { 1 } fn lift(&self) {} }
#[test]
fn it() {
    discount(&[]);
    shop::reduce(&[]);
    Money::new();
    let p: Amount = 1;
    print_all!("x");
}
""",
}
RUST_MEMBERS = {
    "Cargo.toml": CARGO,
    "src/lib.rs": RUST_SHOP,
    "tests/members.rs": """
use shop::{total, Basket, Kind, Shelf};
fn basket() -> Basket { todo!() }
struct Own;
impl Shelf for Own { fn put(&self) {} }
#[derive(Debug)]
struct Pair { one: u32, two: u32 }
#[test]
fn members() {
    basket().remove(1);
    basket().colour;
    Basket::empty();
    let kind = Kind::Square;
    let pair = Pair { one: 1, three: 3 };
    let half = Pair { one: 1 };
}
#[test]
fn types() {
    basket().add("text");
    basket().add();
    let text: String = total(&[]);
    let sum = 1u32 + "x";
    let shown = format!("{}", Own);
    basket().seen;
    total(&[])();
    Own.clone();
}
""",
}
RUST_PRIVATE = {
    "Cargo.toml": CARGO,
    "src/lib.rs": RUST_SHOP,
    "tests/private.rs": "#[test]\nfn it() { shop::inner::hidden(); }\n",
}

JAVA_SHOP = """package org.example.shop;

import java.util.List;

public class Basket {
    private int seen = 1;
    public List<Integer> items;
    public int add(int item) { return item; }
}
"""
JAVA_NAMES = """package org.example.shop;

public class Use {
    void it(Basket basket) {
        basket.remove(1);
        basket.colour = 2;
        Price price = null;
        discount(1, "x");
        int sum = total;
        new Shelf<String>();
        Basket.Kind kind;
    }
}
"""
JAVA_IMPORTS = """package org.example.shop;

import org.example.shop.Discount;
import org.example.prices.Price;
import static org.example.shop.Basket.reduce;

public class Use { }
"""
JAVA_TYPES = """package org.example.shop;

import java.util.List;

interface Shelf { void put(); }
abstract class Wall { }
class Own implements Shelf { }

public class Use {
    class Sub extends Basket { String add(int item) { return ""; } @Override public void lift() { } }
    void it(Basket basket) {
        basket.add("text");
        basket.add();
        String text = basket.add(1);
        new Wall();
        int sum = basket + 1;
        new Basket(1);
        String.valueOf();
        basket.add(1).length();
        for (int item : basket) { }
        List<int> wrong;
        String hidden = (String) basket.add(1);
    }
}
"""
JAVA_PRIVATE = "package other;\n\nclass Use { int it(org.example.shop.Basket b) { return b.seen; } }\n"
HERE = "src/main/java/org/example/shop/"
JAVAC = {
    "names": {f"{HERE}Basket.java": JAVA_SHOP, f"{HERE}Use.java": JAVA_NAMES},
    "imports": {f"{HERE}Basket.java": JAVA_SHOP, f"{HERE}Use.java": JAVA_IMPORTS},
    "types": {f"{HERE}Basket.java": JAVA_SHOP, f"{HERE}Use.java": JAVA_TYPES},
    "private": {f"{HERE}Basket.java": JAVA_SHOP, "src/main/java/other/Use.java": JAVA_PRIVATE},
}
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency>
  </dependencies>
  <build><plugins>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
    <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
  </plugins></build>
</project>
"""
MAVEN_RUN = {
    "pom.xml": POM,
    f"{HERE}Basket.java": JAVA_SHOP,
    "src/test/java/org/example/shop/BasketTest.java": """package org.example.shop;

import org.junit.Test;

public class BasketTest {
    @Test public void missingMethod() { throw new NoSuchMethodError("'int org.example.shop.Basket.remove(int)'"); }
    @Test public void missingClass() throws Exception { Class.forName("org.example.shop.Discount"); }
    @Test public void missingByReflection() throws Exception { Basket.class.getMethod("remove", int.class); }
    @Test public void cast() { Object basket = new Basket(); String text = (String) basket; }
    @Test public void assertion() { org.junit.Assert.assertEquals(1, 2); }
}
""",
}
LINKED = {
    "Shop.java": "class Shop { int one = 1; static int total(int item) { return item; } }\nclass Price { }\n",
    "Use.java": """
class Use {
    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "method": Shop.total(1); break;
            case "field": System.out.println(new Shop().one); break;
            case "class": new Price(); break;
        }
    }
}
""",
    "later/Shop.java": "class Shop { }\n",
}
