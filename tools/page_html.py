# SPDX-License-Identifier: MIT
"""page_html.py - the article as HTML: sections, paragraphs, formulas and the figures' skeletons, from
what page_article printed. Used by build_page.py only. Every sentence and number is escaped text.
"""
import html
import re

BLOCK = {1: 'paragraph', 2: 'details', 3: 'figure', 4: 'formula', 5: 'code', 6: 'question',
         7: 'point', 8: 'teacher', 9: 'source', 10: 'subheading'}
FIGURE = {1: 'lookup', 2: 'project', 3: 'calculator', 4: 'blend', 5: 'root', 6: 'listing',
          7: 'maximum', 8: 'symmetry', 9: 'causal', 10: 'heads', 11: 'recall', 12: 'quiz'}
INSIDE = {'quiz', 'recall', 'symmetry', 'causal', 'heads'}  # stand in the text's own column
COLUMNS = ['key', 'value', 'score', 'scaled', 'weight', 'share']


def text(value):
    return html.escape(value, False)


# ---- mathematics -----------------------------------------------------------------------------------

def letter(c):
    if c in 'QKV':
        return f'<mi mathvariant="normal" class="{c.lower()}">{c}</mi>'
    if c.isalpha():
        return f'<mi mathvariant="normal">{c}</mi>'
    return f'<mn>{c}</mn>' if c.isdigit() else f'<mo>{text(c)}</mo>'


def scripted(source, at):
    """One letter with its scripts; returns it and the place behind."""
    c = source[at]
    at += 1
    base = letter(c)
    while at + 1 < len(source) and source[at] in '_^':
        mark, script = source[at], source[at + 1]
        if mark == '_':
            base = f'<msub>{base}<mi mathvariant="normal">{script}</mi></msub>'
        else:
            over = '<mo>⊤</mo>' if script == 'T' else f'<mi mathvariant="normal">{script}</mi>'
            base = f'<msup>{base}{over}</msup>'
        at += 2
    return base, at


def math(source):
    out, at = '', 0
    while at < len(source):
        if source[at] == '√' and at + 1 < len(source):
            inner, at = scripted(source, at + 1)
            out += f'<msqrt>{inner}</msqrt>'
        elif source[at] == ' ':
            at += 1
        else:
            piece, at = scripted(source, at)
            out += piece
    return f'<math>{out}</math>'


def inline(pieces):
    tags = {'strong': '<em>{}</em>', 'code': '<code>{}</code>'}
    out = ''
    for kind, value in pieces:
        if kind == 'math':
            out += math(value)
        elif kind in 'qkv' and len(kind) == 1:
            out += f'<span class="{kind}"><i class="mark" aria-hidden="true"></i>{text(value)}</span>'
        else:
            body = re.sub(r'\be\^(\d+)', r'e<sup>\1</sup>', text(value))
            out += tags.get(kind, '{}').format(body)
    return out


def said(value):
    """A label with mathematics between dollar signs."""
    parts = value.split('$')
    return ''.join(math(x) if n % 2 else text(x) for n, x in enumerate(parts))


# ---- the calculator --------------------------------------------------------------------------------

def radios(name, model):
    return ''.join(f'<label><input type="radio" name="token-{name}" value="{n}"'
                   f'{" checked" if n == model["token"] else ""}><bdi>{text(row["name"])}</bdi></label>'
                   for n, row in enumerate(model['rows']))


def stage_list(words):
    now = ' aria-current="step"'
    return ''.join(f'<li><button type="button" data-stage="{n}"{now if n == 0 else ""}><b>{n}</b>'
                   f'{text(words[f"STAGE_{n}"])}</button></li>' for n in range(5))


def head_cell(name, words):
    symbol = {'key': '<span class="k"><i class="mark" aria-hidden="true"></i><i class="sy">K</i></span>',
              'value': '<span class="v"><i class="mark" aria-hidden="true"></i><i class="sy">V</i></span>',
              'score': math('Q·K^T'), 'scaled': '<math><mo>÷</mo>' + math('√d_k')[6:],
              'weight': math('w'), 'share': math('w·V')}[name]
    return (f'<th scope="col" class="{name}"><span>{text(words["COLUMN_" + name.upper()])}</span>'
            f'<span class="sym">{symbol}</span></th>')


def cell_text(value):
    return text('[' + ', '.join(value) + ']' if isinstance(value, list) else value)


def table(model, words):
    cells = ''.join(head_cell(x, words) for x in COLUMNS)
    rows = ''
    for n, row in enumerate(model['rows']):
        tds = ''.join(f'<td class="{x}" data-c="{x}" data-r="{n}">{cell_text(row.get(x, ""))}</td>'
                      for x in COLUMNS)
        band = ' class="band"' if n == model['band'] else ''
        rows += f'<tr data-r="{n}"{band}><th scope="row">{text(row["name"])}</th>{tds}</tr>'
    blank = ''.join(f'<td class="{x}"></td>' for x in COLUMNS[1:])
    sums = ''.join(f'<td class="{x}"></td>' for x in COLUMNS)
    query = text(words['QUERY_FOR']).replace('{0}', f'<bdi class="who">{text(model["who"])}</bdi>')
    widths = ''.join(f'<col class="{x}">' for x in ['token', *COLUMNS])
    return (f'<table class="calc" data-stage="0" aria-labelledby="calculator-title"><colgroup>{widths}</colgroup>'
            f'<thead><tr><td class="token"></td>{cells}</tr></thead>'
            f'<tbody><tr class="ask"><th scope="row"><span class="mark q" aria-hidden="true"></span>'
            f'{query}</th><td class="key query">{cell_text(model["query"])}</td>{blank}</tr></tbody>'
            f'<tbody class="keys">{rows}</tbody>'
            f'<tfoot><tr><th scope="row"><span class="name">{text(words["SUM"])}</span></th>{sums}</tr>'
            '</tfoot></table>')


def pieces(line):
    return ''.join(f'<span class="{p["r"]}">{text(p["t"])}</span>' if 'r' in p else rooted(p['t'])
                   for p in line)


def rooted(value):
    """√64 and √d with its subscript, as the scripts draw them."""
    return re.sub(r'√([0-9.]+|dₖ)', lambda x: '<span class="root"><svg viewBox="0 0 9 20" '
                  'preserveAspectRatio="none" aria-hidden="true"><path d="M.5 12 2.5 11 5.5 19 8.6 .6">'
                  '</path></svg><span class="unseen">√</span><span class="under">'
                  + text(x[1]) + '</span></span>', text(value))


def worked(model):
    label = f'<b class="label">{text(model["label"])}</b> ' if model.get('label') else ''
    return label + ''.join(f'<span class="{p["r"]}">{text(p["t"])}</span>' if 'r' in p else text(p['t'])
                   for p in model['work'])


# ---- the article -----------------------------------------------------------------------------------

class Article:
    def __init__(self, figures, article):
        self.article, self.words = article, article['words']
        parts = re.split(r'<!-- figure (\w+)[^>]*-->\n', figures)
        self.figures = dict(zip(parts[1::2], parts[2::2]))
        self.model = article['calculator'][0]

    def filled(self, template, **holes):
        def hole(found):
            what, _, rest = found[1].partition(' ')
            if what == 'word':
                return text(self.words[rest])
            if what == 'say':
                return said(self.words[rest])
            if what == 'figure':
                name, _, where = rest.partition(' ')
                return self.filled(self.figures[name], radios=radios(where, self.model))
            return holes[what]
        return re.sub(r'\{\{([^}]+)\}\}', hole, template)

    def figure(self, number):
        name = FIGURE.get(number)
        if name not in self.figures:
            return ''
        model = self.model
        stage = text(self.words['STAGE'].replace('{0}', '0'))
        return self.filled(self.figures[name], stages=stage_list(self.words),
                           caption=f'<b>{stage}</b> {text(model["caption"])}',
                           table=table(model, self.words), worked=worked(model), points=self.points())

    def points(self):
        return ''.join(f'<label class="check"><input type="checkbox" value="{n}"> '
                       f'<span>{inline(x)}</span></label>'
                       for n, x in enumerate(self.article['points']))

    def question(self, number):
        q = self.article['questions'][number]
        options = ''.join(
            f'<label><input type="radio" name="question-{number}" value="{n}">'
            f'<span>{pieces(x["text"])}</span></label>' for n, x in enumerate(q['options']))
        return (f'<fieldset class="question" data-question="{number}"><legend>{pieces(q["text"])}'
                f'</legend>{options}</fieldset>')

    @staticmethod
    def named(pieces_):
        """Mathematics as the name of a button: not every browser reads MathML as one."""
        out = ''
        for kind, value in pieces_:
            plain = text(value.replace('_k', 'ₖ').replace('^T', 'ᵀ'))
            out += (math(value).replace('<math>', '<math aria-hidden="true">')
                    + f'<span class="unseen">{plain}</span>' if kind == 'math' else text(value))
        return out

    def formula(self, block):
        part = ''
        for p in self.article['parts']:
            part += (f'<li><button type="button" class="plain" data-stage="{p["stage"]}">'
                     f'{self.named(p["name"])}</button> <span>{inline(p["words"])}</span></li>')
        return (self.filled(self.figures['formula']) if 'formula' in self.figures else '') + \
            f'<ol class="parts">{part}</ol><p>{inline(block["text"])}</p>'

    def block(self, block):
        kind = BLOCK[block['kind']]
        body = inline(block.get('text', []))
        more = ''.join(f'<p>{inline(x)}</p>' for x in block['more'])
        if kind == 'paragraph':
            asks = block['text'] == [['text', self.words['ASK_SOMEONE']]]
            return f'<p>{body}</p>' + (self.filled(self.figures['ask']) if asks else '')
        if kind == 'question':
            return self.question(block['figure'])
        if kind == 'details':
            return f'<details><summary>{body}</summary>{more}</details>'
        if kind == 'formula':
            return self.formula(block)
        if kind == 'subheading':
            return f'<h3>{body}</h3>'
        if kind == 'point':
            link = text(self.words['SEE_STAGE'].replace('{0}', str(block['stage'])))
            return (f'<p class="point">{body} <a href="#calculator-figure" '
                    f'data-stage="{block["stage"]}">{link}</a></p>')
        if kind == 'teacher':
            proof = self.figure(block['figure'])
            return f'<details class="teacher"><summary>{body}</summary>{more}{proof}</details>'
        if kind == 'source':
            return f'<p class="source">{body}</p>'
        return ''

    def section(self, number, section):
        place = text(self.words['PLACE'].replace('{0}', str(number + 1)))
        sid = section['id']
        head = (f'<p class="place">{place}</p><h2 id="{sid}-title" tabindex="-1">'
                f'{inline(section["title"])}</h2>')
        grids, now, prose = [], '', head
        for block in section['blocks']:
            figure = BLOCK[block['kind']] == 'figure' and self.figure(block['figure'])
            if not figure or FIGURE[block['figure']] in INSIDE:
                prose += figure or self.block(block)
                continue
            if '<figure' in now:  # a grid has one figure: the text between two belongs to the first
                grids.append(now + self.prose(prose))
                now, prose = '', ''
            now += self.prose(prose) + figure
            prose = ''
        grids.append(now + self.prose(prose))
        return sid, grids

    @staticmethod
    def prose(body):
        return f'<div class="prose">{body}</div>\n' if body else ''

    def sections(self):
        made = dict(self.section(n, s) for n, s in enumerate(self.article['sections']))
        out = ''
        for sid, grids in made.items():
            tag = f'<section id="{sid}" aria-labelledby="{sid}-title" class='
            if sid == 'formula':  # shares the calculator's grid
                out += f'<div class="pair shared">\n{tag}"inner">\n{grids[0]}</section>\n'
            elif sid == 'calculator':
                out += f'{tag}"inner">\n{grids[0]}</section>\n</div>\n'
            elif len(grids) == 1:
                out += f'{tag}"pair">\n{grids[0]}</section>\n'
            else:
                inner = ''.join(f'<div class="pair">\n{x}</div>\n' for x in grids)
                out += f'{tag}"stack">\n{inner}</section>\n'
        return out

    def refreshers(self):
        return '\n'.join(f'<details><summary>{inline(r["name"])}</summary><p>{inline(r["text"])}</p>'
                         '</details>' for r in self.article['refreshers'])


def page(template, figures, article, holes):
    made = Article(figures, article)
    holes = dict(holes, article=made.sections(), refreshers=made.refreshers())
    return made.filled(template, **holes)
