# Made by tools/mkfunctions.py from grammar/functions.tab.
"""Functions of the language."""

from frond.spec import Function

FUNCTIONS = {
    "min": Function(
        "min", "<< block >>/min", 2, True, "number",
        "The smallest argument.",
    ),
    "max": Function(
        "max", "<< block >>/max", 2, True, "number",
        "The largest argument.",
    ),
    "mean": Function(
        "mean", "<< block >>/mean", 2, True, "number",
        "The sum of the arguments over their number.",
    ),
    "abs": Function(
        "abs", "<< block >>/abs", 1, False, "number",
        "The argument without its sign.",
    ),
    "round": Function(
        "round", "<< block >>/round", 1, False, "number",
        "The nearest whole number; halves go away from zero.",
    ),
    "dew_point": Function(
        "dew_point", "<< block >>/dew_point", 2, False, "number",
        "Dew point in degrees from air temperature and relative humidity.",
    ),
    "deficit": Function(
        "deficit", "<< block >>/deficit", 2, False, "number",
        "Vapour pressure deficit in kPa from air temperature and relative humidity.",
    ),
    "is_night": Function(
        "is_night", "<< block >>/is_night", 1, False, "truth",
        "Whether the hour lies before 6 or from 22 on.",
    ),
    "clamp": Function(
        "clamp", "<< block >>/clamp", 3, False, "number",
        "The first argument, held between the second and the third.",
    ),
    "is_between": Function(
        "is_between", "<< block >>/is_between", 3, False, "truth",
        "Whether the first argument lies between the second and the third or on one of them.",
    ),
}
