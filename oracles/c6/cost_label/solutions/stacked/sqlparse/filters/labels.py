#
# Copyright (C) 2009-2020 the sqlparse authors and contributors
# <see AUTHORS file>
#
# This module is part of python-sqlparse and is released under
# the BSD License: https://opensource.org/licenses/BSD-3-Clause

from sqlparse import sql, tokens as T

# What the statements of the formatter are booked under.
COST_LABEL = '<< control_label >>'


class LabelStatementFilter:
    """Puts the cost label behind the last word of a statement.

    Runs behind all filters that change white space or comments.
    """

    def process(self, stmt):
        tokens = list(stmt.flatten())
        if not any(self._is_word(token) for token in tokens):
            return stmt
        end = max(i for i, t in enumerate(tokens) if self._is_word(t)) + 1
        comment = '/* cost: {} */'.format(COST_LABEL)
        tokens[end:end] = [sql.Token(T.Whitespace, ' '),
                           sql.Token(T.Comment.Multiline, comment)]
        stmt.tokens = tokens
        return stmt

    @staticmethod
    def _is_word(token):
        return not (token.is_whitespace or token.ttype in T.Comment
                    or token.match(T.Punctuation, ';'))

    @staticmethod
    def _without_labels(tokens):
        kept = []
        for token in tokens:
            if sql.label_in(token) is None:
                kept.append(token)
                continue
            while kept and kept[-1].is_whitespace:
                kept.pop()
        return kept
