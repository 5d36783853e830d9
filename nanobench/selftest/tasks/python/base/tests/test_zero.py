from toy import double


def test_zero():
    assert double(0) == 0
