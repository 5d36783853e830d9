"""A toy that is right."""


def double(number):
    return 2 * number
