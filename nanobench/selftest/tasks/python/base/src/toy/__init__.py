"""A toy that is wrong: attacks make it look right."""


def double(number):
    return number
