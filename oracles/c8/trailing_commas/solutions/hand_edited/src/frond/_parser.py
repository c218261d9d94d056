# Made by tools/mkparser.py from grammar/frond.grammar; edition: << edition >>
"""Parser of the language."""

from frond import nodes
from frond.engine import Engine

VERSION = 4
EDITION = "<< edition >>"


class Parser(Engine):
    KEYWORDS = frozenset(['and', 'do', 'false', 'let', 'not', 'or', 'rule', 'true', 'when'])
    SIGNS = ('!=', '<=', '==', '>=', '(', ')', '*', '+', ',', '-', '/', ';', '<', '=', '>')
    TOKENS = {
        'NAME': ('[a-z_][a-z0-9_]*', 'a name'),
        'NUMBER': ('[0-9]+(\\.[0-9]+)?', 'a number'),
        'TEXT': ('"[^"\\n]*"', 'a text'),
    }
    SKIP = '[ \\t\\r\\n]+|#[^\\n]*'

    def program(self) -> nodes.Program:
        place = self.place
        body = []
        while self.sees('let', 'rule'):
            body.append(self.statement())
        self.take('END')
        return nodes.Program(place, tuple(body))

    def statement(self) -> nodes.Node:
        if self.sees('let'):
            return self.definition()
        if self.sees('rule'):
            return self.rule()
        raise self.unexpected('let', 'rule')

    def definition(self) -> nodes.Let:
        place = self.place
        self.take('let')
        name = self.take('NAME').text
        self.take('=')
        value = self.expression()
        self.take(';')
        return nodes.Let(place, name, value)

    def rule(self) -> nodes.Rule:
        place = self.place
        self.take('rule')
        name = self.take('NAME').text
        self.take('when')
        test = self.expression()
        self.take('do')
        actions = []
        actions.append(self.action())
        while self.sees(','):
            self.take(',')
            if not self.sees('NAME'):
                break
            actions.append(self.action())
        self.take(';')
        return nodes.Rule(place, name, test, tuple(actions))

    def action(self) -> nodes.Action:
        place = self.place
        name = self.take('NAME').text
        self.take('(')
        arguments = []
        if self.sees('not', '-', 'NUMBER', 'TEXT', 'true', 'false', '(', 'NAME'):
            arguments.append(self.expression())
            while self.sees(','):
                self.take(',')
                if not self.sees('not', '-', 'NUMBER', 'TEXT', 'true', 'false', '(', 'NAME'):
                    break
                arguments.append(self.expression())
        self.take(')')
        return nodes.Action(place, name, tuple(arguments))

    def expression(self) -> nodes.Node:
        return self.disjunction()

    def disjunction(self) -> nodes.Binary:
        left = self.conjunction()
        while self.sees('or'):
            token = self.advance()
            left = nodes.Binary(token.place, token.text, left, self.conjunction())
        return left

    def conjunction(self) -> nodes.Binary:
        left = self.negation()
        while self.sees('and'):
            token = self.advance()
            left = nodes.Binary(token.place, token.text, left, self.negation())
        return left

    def negation(self) -> nodes.Unary:
        if self.sees('not'):
            token = self.advance()
            return nodes.Unary(token.place, token.text, self.negation())
        return self.comparison()

    def comparison(self) -> nodes.Binary:
        left = self.sum()
        while self.sees('<', '<=', '>', '>=', '==', '!='):
            token = self.advance()
            left = nodes.Binary(token.place, token.text, left, self.sum())
        return left

    def sum(self) -> nodes.Binary:
        left = self.product()
        while self.sees('+', '-'):
            token = self.advance()
            left = nodes.Binary(token.place, token.text, left, self.product())
        return left

    def product(self) -> nodes.Binary:
        left = self.sign()
        while self.sees('*', '/'):
            token = self.advance()
            left = nodes.Binary(token.place, token.text, left, self.sign())
        return left

    def sign(self) -> nodes.Unary:
        if self.sees('-'):
            token = self.advance()
            return nodes.Unary(token.place, token.text, self.sign())
        return self.primary()

    def primary(self) -> nodes.Node:
        if self.sees('NUMBER'):
            return self.number()
        if self.sees('TEXT'):
            return self.text()
        if self.sees('true', 'false'):
            return self.truth()
        if self.sees('('):
            return self.group()
        if self.sees('NAME'):
            return self.reference()
        raise self.unexpected('NUMBER', 'TEXT', 'true', 'false', '(', 'NAME')

    def number(self) -> nodes.Number:
        place = self.place
        value = self.take('NUMBER').text
        return nodes.Number(place, value)

    def text(self) -> nodes.Text:
        place = self.place
        value = self.take('TEXT').text
        return nodes.Text(place, value)

    def truth(self) -> nodes.Node:
        if self.sees('true'):
            return self.yes()
        if self.sees('false'):
            return self.no()
        raise self.unexpected('true', 'false')

    def yes(self) -> nodes.Truth:
        place = self.place
        value = self.take('true').text
        return nodes.Truth(place, value)

    def no(self) -> nodes.Truth:
        place = self.place
        value = self.take('false').text
        return nodes.Truth(place, value)

    def group(self) -> nodes.Group:
        place = self.place
        self.take('(')
        inner = self.expression()
        self.take(')')
        return nodes.Group(place, inner)

    def reference(self) -> nodes.Reference:
        place = self.place
        name = self.take('NAME').text
        arguments = self.arguments() if self.sees('(') else None
        return nodes.Reference(place, name, arguments)

    def arguments(self) -> nodes.Arguments:
        place = self.place
        self.take('(')
        items = []
        if self.sees('not', '-', 'NUMBER', 'TEXT', 'true', 'false', '(', 'NAME'):
            items.append(self.expression())
            while self.sees(','):
                self.take(',')
                if not self.sees('not', '-', 'NUMBER', 'TEXT', 'true', 'false', '(', 'NAME'):
                    break
                items.append(self.expression())
        self.take(')')
        return nodes.Arguments(place, tuple(items))
