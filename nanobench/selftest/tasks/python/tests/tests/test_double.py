import unittest

from toy import double


def test_two():
    assert double(2) == 4


class TestDouble(unittest.TestCase):
    def test_three(self):
        self.assertEqual(double(3), 6)
