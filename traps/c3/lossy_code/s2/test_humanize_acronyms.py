import pytest

from inflection import humanize


@pytest.mark.parametrize(
    ("word", "acronyms", "label"),
    [
        ("vat_number", ["VAT"], "VAT number"),
        ("invoice_as_pdf", ["PDF", "VAT"], "Invoice as PDF"),
        ("PDF_and_pdf", {"PDF"}, "PDF and PDF"),
        ("private_vat", ["VAT"], "Private VAT"),
        ("ipad_id", ["iPad"], "iPad"),
        ("employee_salary", [], "Employee salary"),
        ("vat_number", (), "Vat number"),
        ("", ["VAT"], ""),
    ],
)
def test_acronyms(word, acronyms, label):
    assert humanize(word, acronyms=acronyms) == label


def test_any_iterable_and_none():
    assert humanize("vat_number", acronyms=iter(["VAT"])) == "VAT number"
    assert humanize("vat_number") == "Vat number"
