"""Invoices from orders, customers and terms of trade."""

from tallybook.book import Book
from tallybook.invoice import Invoice, Item
from tallybook.terms import Discount, Terms, read_terms

__all__ = ["Book", "Discount", "Invoice", "Item", "Terms", "read_terms"]
