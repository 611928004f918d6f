"""page_test STOWAGE [FOLDER]: the page of a running server in a real browser, which is Debian's Chromium without a window.
FOLDER gets a picture of each width and colour scheme."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from webdriver import Browser

HERE = os.path.dirname(os.path.abspath(__file__))
STOWAGE = ""
PICTURES = None
WIDTHS = [(360, 780), (1280, 900), (3840, 2160)]


class Server:
    """A cluster in memory, on ports that are free."""

    def __init__(self, *flags):
        self.process = subprocess.Popen(
            [STOWAGE, "serve", "--embedded", "-f", os.path.join(HERE, "cluster.yaml"), "--webhook-listen=127.0.0.1:0", "--extender-listen=127.0.0.1:0", "--metrics-port=0",
             "--health-probe-port=0", "--page-listen=127.0.0.1:0", "--log-format=text", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            found = re.search(r"the page is at (http://127\.0\.0\.1:\d+)/", line)
            if found:
                break
        else:
            raise RuntimeError("stowage did not start")
        self.url = found.group(1)

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as reply:
            return json.load(reply)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


class PageTest(unittest.TestCase):
    """In the order of their names: the first sees the cluster grow, the last the server go."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.browser = Browser()
        cls.browser.size(1280, 900)
        cls.browser.scheme("light")
        cls.browser.open(cls.server.url + "/")

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.kill()

    def run_js(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def text(self, selector):
        return self.run_js("return document.querySelector(arguments[0]).textContent", selector)

    def go(self, address=""):
        self.browser.open("about:blank")
        self.browser.open(self.server.url + "/" + address)
        self.browser.wait("document.querySelector('#line').textContent === 'live' && "
                          "document.querySelector('#fleet-count').textContent !== ''", what="the page to be live")
        with open(os.path.join(HERE, "look.js"), encoding="utf-8") as f:
            self.run_js(f.read())

    def nothing_to_complain(self):
        self.assertEqual(self.browser.complaints(), [])

    # --- the page fills without being loaded anew ---

    def test_01_grows_by_itself(self):
        self.run_js("window.untouched = true")
        self.browser.wait("Number(document.querySelector('#fleet-count').textContent) >= 4", what="nodes to be bought")
        self.browser.wait("/1 pod waits/.test(document.querySelector('#figures').textContent)", what="all but one pod to be bound")
        self.assertTrue(self.run_js("return window.untouched"))
        fleet = self.server.get("/fleet")
        self.assertEqual(int(self.text("#fleet-count")), len(fleet["nodes"]))
        price = sum(node["price"] for node in fleet["nodes"])
        self.assertIn(f"${price:.4f} an hour", self.text("#figures"))
        self.assertIn(f"${price:.4f} an hour", self.text("#chart-price output"))
        self.assertIn(f"{len(fleet['nodes'])} nodes", self.text("#chart-price output"))
        self.browser.wait("/200 CPUs/.test(document.querySelector('#waiting td[data-label=why]').textContent)")
        self.assertEqual(self.run_js("return document.querySelector('#waiting td a').getAttribute('href')"), "#pod/shop/render-0")
        self.assertGreater(self.run_js("return document.querySelectorAll('#decisions tbody tr').length"), 3)
        self.nothing_to_complain()

    # --- its modules ---

    def module(self, name, script):
        return self.run_js(f"return import('/{name}.js').then((m) => {{ {script} }})")

    def test_02_format(self):
        got = self.module("format", """return [m.count(1234567), m.cpu(50), m.cpu(1500), m.cpu(123456000), m.bytes(1536), m.bytes(3 * 2 ** 30),
            m.price(0.0416), m.price(1234.5), m.price(undefined), m.month(2), m.percent(m.share(1, 3)), m.share(5, 0), m.share(-1, 4),
            m.age(-5), m.age(119000), m.age(7200000), m.age(172800000)]""")
        self.assertEqual(got, ["1,234,567", "50m", "1.5", "123,456", "1.5Ki", "3Gi", "$0.0416", "$1,234.50", "–", "$1,460", "33 %", 0, 0,
                               "0s", "119s", "2h", "2d"])

    def test_02_text(self):
        got = self.module("text", r"""return [m.safe("a\nb\u009b\u202e日é"), m.safe("a\u{e0041}"),
            m.parse('{"a": ["x\\n\\u202e", 1], "html": "<p>\\n</p>"}')]""")
        self.assertEqual(got, ["a\\nb\\u009b\\u202e日é", "a\\U000e0041", {"a": ["x\\n\\u202e", 1], "html": "<p>\n</p>"}])

    def test_03_query(self):
        rows = [
            ("", ["a", "b"], ""),
            ("shop/web", ["a"], ""), ("WEB", ["a"], ""), ("-web", ["b"], ""),
            ("pool:gen", ["a"], ""), ("-pool:gen", ["b"], ""), ("pool:gen zone:z-b", [], ""), ("zone:z-b", ["b"], ""),
            ("type:c-4x", ["a"], ""), ("state:leaving", ["b"], ""), ("workload:web", ["a"], ""), ("node:b", ["b"], ""),
            ("cpu<50", ["a"], ""), ("cpu>=50%", ["b"], ""), ("memory<1", ["b"], ""), ("price>1", ["b"], ""), ("pods=3", ["a"], ""),
            ("pods>0 cpu<50", ["a"], ""),
            ("colour:red", ["a", "b"], "there is no field colour; there are node, pool, zone, type, capacity, state, workload"),
            ("size>3", ["a", "b"], "there is no number size; there are cpu, memory, price, pods"),
        ]
        nodes = [
            {"n": "a", "p": "general", "t": "c-4x", "z": "z-a", "c": "spot", "s": "ready", "$": 0.5, "a": 0, "cpu": [1000, 4000, 0, 0],
             "mem": [100, 400, 0, 0], "w": [["Deployment shop/web", 2, 800, 50], ["Pod x/y", 1, 200, 50]]},
            {"n": "b", "z": "z-b", "s": "leaving", "$": 2, "a": 0, "cpu": [4000, 8000, 0, 0], "mem": [0, 400, 0, 0], "w": []},
        ]
        got = self.run_js("""return import('/query.js').then((m) => arguments[0].map((q) => {
            const c = m.compile({ ...m.DEFAULTS, q });
            return [arguments[1].filter(c.test).map((n) => n.n), c.trouble];
        }))""", [row[0] for row in rows], nodes)
        for (query, names, trouble), (found, said) in zip(rows, got):
            self.assertEqual((found, said), (names, trouble), query)
        got = self.module("query", """const s = { ...m.DEFAULTS, q: 'a b&c', size: 'price' };
            return [m.toAddress(m.DEFAULTS), m.toAddress(s), m.fromAddress(m.toAddress(s)), s, m.fromAddress('?size=weight&view=table').size,
                m.fromAddress('?size=weight&view=table').view]""")
        self.assertEqual(got[:2], ["", "?q=a+b%26c&size=price"])
        self.assertEqual(got[2], got[3])
        self.assertEqual(got[4:], ["cpu", "table"])

    def test_04_layout(self):
        """Boxes have the areas of their weights, lie within, and none lies on another."""
        wrong = self.module("layout", """
            const items = Array.from({ length: 300 }, (_, i) => ({ n: i, w: 1 + (i * 7919) % 97, g: 'g' + i % 5 }));
            const boxes = m.squarify(items, (i) => i.w, 10, 20, 800, 500);
            const total = items.reduce((s, i) => s + i.w, 0);
            const wrong = [];
            if (boxes.length !== items.length)
                wrong.push('boxes: ' + boxes.length);
            boxes.forEach((b, k) => {
                if (Math.abs(b.w * b.h - b.item.w / total * 400000) > 1e-6)
                    wrong.push('area of ' + b.item.n);
                if (b.x < 10 - 1e-6 || b.y < 20 - 1e-6 || b.x + b.w > 810 + 1e-6 || b.y + b.h > 520 + 1e-6)
                    wrong.push('outside: ' + b.item.n);
                boxes.slice(k + 1).forEach((c) => {
                    if (b.x + b.w > c.x + 1e-6 && c.x + c.w > b.x + 1e-6 && b.y + b.h > c.y + 1e-6 && c.y + c.h > b.y + 1e-6)
                        wrong.push(b.item.n + ' on ' + c.item.n);
                });
            });
            const ratios = boxes.map((b) => Math.max(b.w / b.h, b.h / b.w)).sort((a, b) => a - b);
            if (ratios[150] > 2)
                wrong.push('far from squares: ' + ratios[150]);
            const g = m.grouped(items, (i) => i.g, (i) => i.w, 800, 500);
            if (g.boxes.length !== items.length || g.heads.map((h) => h.name + h.count).join() !== 'g060,g160,g260,g360,g460'.split(',').sort().join() && g.heads.length !== 5)
                wrong.push('groups: ' + JSON.stringify(g.heads));
            if (m.squarify([{ w: 0 }], (i) => i.w, 0, 0, 9, 9).length !== 0 || m.squarify([], () => 1, 0, 0, 9, 9).length !== 0)
                wrong.push('nothing has a box');
            return wrong;""")
        self.assertEqual(wrong, [])

    def test_05_chart(self):
        got = self.module("chart", """const id = (v) => v;
            return [m.ceiling(0), m.ceiling(0.6), m.ceiling(1), m.ceiling(1.01), m.ceiling(4321), m.ceiling(0.2),
                m.path([[0, 1], [1, 2], [9, 3]], (p) => p[0], (p) => p[1], id, id, 3)]""")
        self.assertEqual(got, [1, 1, 1, 2, 5000, 0.2, "M0.0 1.0L1.0 2.0M9.0 3.0"])

    def test_06_panel_module(self):
        got = self.run_js("""return Promise.all([import('/panel.js'), import('/fleet.js')]).then(([m, { Fleet }]) => {
            const fleet = new Fleet();
            fleet.take({ gone: [], nodes: [{ n: 'n-1.x', p: 'general', w: [['Deployment shop/web', 2, 1, 1]] }, { n: 'n2', w: [['Deployment shop/web', 1, 1, 1]] }] });
            const span = m.linked('n-1.x goes: <img src=x> of pool general, for shop/web; general advice, n2.', fleet);
            fleet.take({ gone: ['n2'], nodes: [] });
            return [m.target('#node/a'), m.target('#pod/web/a%20b?open=x'), m.target('#waiting'), m.target('#x/y'), m.target('#node/'), m.target(''),
                span.textContent, Array.from(span.querySelectorAll('*'), (e) => e.tagName + ' ' + e.getAttribute('href')),
                fleet.nodes.size, fleet.workloads().get('shop/web').pods, m.named('n-1.x', fleet), m.named('shop/web', fleet),
                m.named('shop/web-0', fleet), m.named('web', fleet), m.named('pool:a/b', fleet)];
        })""")
        self.assertEqual(got[:6], [{"kind": "node", "name": "a"}, {"kind": "pod", "name": "web/a b"}, None, None, None, None])
        self.assertEqual(got[6], "n-1.x goes: <img src=x> of pool general, for shop/web; general advice, n2.")
        self.assertEqual(got[7], ["A #node/n-1.x", "A #nodepool/general", "A #deployment/shop/web", "A #node/n2"])
        self.assertEqual(got[8:], [1, 2, "#node/n-1.x", "#deployment/shop/web", "#pod/shop/web-0", None, None])

    def test_07_groups(self):
        """Rows stay the same elements while what they say changes, and the section goes with the last group."""
        got = self.run_js("""return import('/groups.js').then(({ takeGroups }) => {
            const section = document.createElement('section');
            const group = (name, size, good) => ({ group: name, answer: { hasPlace: good, sentence: name + ' <stays>',
                lines: [{ about: 'health', text: 'good' }, { about: 'size', text: size }] } });
            document.body.append(section);
            takeGroups(section, [group('MachineDeployment/w/a', '3 of 1 to 9', true), group('b', '0', false)]);
            const row = section.querySelector('tbody tr');
            const first = [section.hidden, section.querySelector('.count').textContent, row.id, Array.from(row.cells, (c) => c.textContent).join('|'),
                row.querySelector('a').getAttribute('href'), section.querySelectorAll('tbody tr')[1].className, section.querySelectorAll('stays').length];
            takeGroups(section, [group('MachineDeployment/w/a', '4 of 1 to 9', true)]);
            const then = [section.querySelector('tbody tr') === row, row.cells[1].textContent, section.querySelectorAll('tbody tr').length];
            takeGroups(section, []);
            const last = section.hidden;
            section.remove();
            return [...first, ...then, last];
        })""")
        self.assertEqual(got, [False, "2", "group/MachineDeployment/w/a", "MachineDeployment/w/a|3 of 1 to 9|MachineDeployment/w/a <stays>",
                               "#group/MachineDeployment/w/a", "warning", 0, True, "4 of 1 to 9", 1, True])

    # --- how it looks ---

    def test_10_every_width_and_scheme(self):
        for width, height in WIDTHS:
            self.browser.size(width, height)
            node = self.server.get("/fleet")["nodes"][0]["name"]
            for view in ("", "?view=table", "?q=shop#node/" + node):
                self.go(view)
                if view.endswith(node):
                    self.browser.wait("document.querySelector('#panel h3') && document.querySelector('#panel .sentence')")
                for scheme in ("light", "dark"):
                    with self.subTest(width=width, view=view, scheme=scheme):
                        self.browser.scheme(scheme)
                        if view == "":
                            self.browser.wait("look.colours(document.querySelector('#canvas')) > 4", what="boxes to be drawn")
                        for what in ("faintTexts", "faintColours", "tooWide", "tooSmall", "nameless"):
                            self.assertEqual(self.run_js(f"return look.{what}()"), [], what)
                        if PICTURES:
                            name = re.sub(r"[^a-z]+", "-", view.split("#")[0]) or "-boxes"
                            self.browser.screenshot(os.path.join(PICTURES, f"{scheme}-{width}{name}.png"))
        self.browser.size(1280, 900)
        self.browser.scheme("light")
        self.nothing_to_complain()

    def test_11_the_checks_see(self):
        """A page that is broken in one thing is told from one that is not."""
        self.go()
        breaks = {
            "faintTexts": "const p = document.createElement('p'); p.textContent = 'faint'; p.style.color = '#999'; document.querySelector('#legend').after(p)",
            "faintColours": "document.body.style.setProperty('--half', '#eee')",
            "tooWide": "document.querySelector('#pointed').style.width = '2000px'",
            "tooSmall": "document.querySelector('#size').style.height = '10px'",
            "nameless": "document.querySelector('main').append(document.createElement('button'))",
        }
        for what, script in breaks.items():
            self.assertEqual(self.run_js(f"return look.{what}()"), [], what)
            self.run_js(script)
            self.assertEqual(len(self.run_js(f"return look.{what}()")), 2 if what == "tooWide" else 1, what)
            self.go()
        self.run_js("const s = document.createElement('script'); s.textContent = 'window.broken = 1'; document.head.append(s)")
        self.assertIsNone(self.run_js("return window.broken ?? null"))
        self.assertRegex(" ".join(self.browser.complaints()), "Content Security Policy|violates")

    # --- what a reader does ---

    def test_20_keyboard(self):
        self.go()
        reached = []
        for _ in range(60):
            self.browser.press("Tab")
            reached.append(self.run_js("const e = document.activeElement; return e.id || e.getAttribute('href') || e.textContent"))
            if reached[-1] == "canvas":
                break
        for wanted in ("#fleet", "#waiting", "q", "pool", "zone", "capacity", "state", "size", "by", "view", "canvas"):
            self.assertIn(wanted, reached)
        self.browser.wait("document.querySelector('#pointed').textContent !== ''")
        first = self.text("#pointed")
        self.browser.press("Right")
        self.browser.press("Down")
        self.assertNotEqual(self.text("#pointed"), first)
        name = self.text("#pointed").split(" · ")[0]
        self.browser.press("Enter")
        self.browser.wait("document.activeElement.id === 'panel-title'")
        self.assertEqual(self.run_js("return location.hash"), "#node/" + name)
        self.assertIn(name, self.text("#panel-title"))
        self.browser.press("Escape")
        self.assertTrue(self.run_js("return document.querySelector('#panel').hidden"))
        self.assertEqual(self.run_js("return document.activeElement.id + location.hash"), "canvas")
        self.browser.press("/")
        self.browser.press("x", "/", "y")
        self.assertEqual(self.run_js("return document.activeElement.id + document.querySelector('#q').value"), "qx/y")
        self.nothing_to_complain()

    def test_21_search_and_filters_are_in_the_address(self):
        self.go()
        every = int(self.text("#fleet-count"))
        self.run_js("document.querySelector('#q').focus()")
        self.browser.press(*"shop/web")
        self.browser.wait("/ of /.test(document.querySelector('#fleet-count').textContent)")
        self.assertEqual(self.run_js("return location.search"), "?q=shop%2Fweb")
        found = self.text("#fleet-count")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('#panel-title').textContent === 'Deployment shop/web'")
        self.browser.press("Escape")
        self.go("?q=shop%2Fweb")
        self.assertEqual(self.text("#fleet-count"), found)
        self.assertEqual(self.run_js("return document.querySelector('#q').value"), "shop/web")
        self.run_js("document.querySelector('#clear').click()")
        self.assertEqual(self.text("#fleet-count"), str(every))
        pools = self.run_js("return Array.from(document.querySelector('#pool').options, (o) => o.value)")
        self.assertEqual(pools, ["", "burst", "general"])
        self.go("?pool=burst&view=table&size=memory")
        burst = [n["name"] for n in self.server.get("/fleet")["nodes"] if n.get("nodePool") == "burst"]
        rows = "return Array.from(document.querySelectorAll('#table tbody tr'), (r) => r.cells[0].textContent)"
        self.assertEqual(self.run_js(rows), sorted(burst))
        self.run_js("document.querySelector('#table th button').click()")
        self.assertEqual(self.run_js(rows), sorted(burst, reverse=True))
        self.assertEqual(self.run_js("return document.querySelector('#size').value"), "memory")
        self.go("?q=no-such-thing")
        self.assertEqual(self.text("#fleet-count"), f"0 of {every}")
        self.nothing_to_complain()

    def test_22_pointer(self):
        self.go()
        box = self.run_js("document.querySelector('#canvas').scrollIntoView(); const r = document.querySelector('#canvas').getBoundingClientRect();"
                          "return [r.left + 60, r.top + 80]")
        self.browser.point(*box)
        self.browser.wait("/ · CPU .* of .* · memory /.test(document.querySelector('#pointed').textContent)")
        name = self.text("#pointed").split(" · ")[0]
        self.browser.point(*box, click=True)
        self.browser.wait("!document.querySelector('#panel').hidden")
        self.assertEqual(self.run_js("return location.hash"), "#node/" + name)

    def test_23_panel(self):
        fleet = self.server.get("/fleet")
        node = next(n["name"] for n in fleet["nodes"] if n.get("nodePool") == "burst")
        self.go("#node/" + node)
        self.browser.wait("document.querySelector('#panel .sentence')")
        self.assertRegex(self.text("#panel .sentence"), f"^{node} ")
        self.assertEqual(self.text("#panel .sentence"), self.server.get("/explain/node/" + node)["sentence"])
        self.assertIn("Deployment shop/thumbnails ×", self.text("#panel .heaps"))
        self.run_js("document.querySelector(`#panel .heaps a[href='#deployment/shop/thumbnails']`).click()")
        self.browser.wait("/^Deployment shop.thumbnails/.test(document.querySelector('#panel .sentence')?.textContent)")
        self.assertRegex(self.text("#panel h3"), r"^40 pods on \d nodes$")
        self.run_js("history.back()")
        self.browser.wait("document.querySelector('#panel-title').textContent === arguments[0]", "Node " + node)
        self.run_js("document.querySelector(`#panel a[href='#nodepool/burst']`).click()")
        self.browser.wait("document.querySelector('#panel-title').textContent === 'NodePool burst' && document.querySelector('#panel .sentence')")
        self.run_js("document.querySelector('#panel a[href^=\"?pool\"]').click()")
        self.browser.wait("location.search === '?pool=burst'")
        self.assertRegex(self.text("#fleet-count"), r"^\d of \d+$")
        self.go("#pod/shop/render-0")
        self.browser.wait("document.querySelector('#panel .sentence')")
        self.assertRegex(self.text("#panel .sentence"), "^shop/render-0 has no place: ")
        self.assertRegex(self.text("#panel dl"), "pool (burst|general)")
        self.go("#pod/shop/nobody")
        self.browser.wait("document.querySelector('#panel p.warning')")
        self.assertIn("nobody", self.text("#panel p.warning"))
        self.browser.complaints() # of the 404
        move = self.run_js("return document.querySelector('#decisions a[href^=\"#move/\"]').getAttribute('href')")
        self.go(move)
        self.browser.wait("document.querySelector('#panel .sentence')")
        self.assertIn(move.split("/")[1], self.text("#panel .sentence"))
        self.nothing_to_complain()

    def names(self):
        return self.run_js("return Array.from(document.querySelectorAll('#names li a[href^=\"#pod/\"]'), (a) => a.textContent)")

    def open_names(self, key):
        self.run_js("Array.from(document.querySelectorAll('#panel button.names')).find((b) => b.dataset.key === arguments[0]).click()", key)
        self.browser.wait("document.querySelector('#names a')", what="names")

    def test_25_names_of_a_node(self):
        """A group of pods opens into names, each of which leads to what is said of that pod; the address keeps what is open."""
        node = next(n["name"] for n in self.server.get("/fleet")["nodes"] if n.get("nodePool") == "burst")
        key = "Deployment shop/thumbnails"
        told = self.server.get(f"/pods?node={node}&workload={urllib.parse.quote(key)}")
        self.assertEqual(told["found"], len(told["pods"]))
        for width, height in WIDTHS:
            with self.subTest(width=width):
                self.browser.size(width, height)
                self.go("#node/" + node)
                self.browser.wait("document.querySelector('#panel .sentence')")
                self.open_names(key)
                self.assertEqual(self.names(), [pod["pod"].split("/")[1] for pod in told["pods"]])
                button = "Array.from(document.querySelectorAll('#panel button.names')).find((b) => b.dataset.key === 'Deployment shop/thumbnails')"
                self.assertEqual(self.run_js(f"return {button}.getAttribute('aria-expanded') + {button}.textContent"), f"true×{told['found']}")
                for what in ("faintTexts", "tooWide", "tooSmall", "nameless"):
                    self.assertEqual(self.run_js(f"return look.{what}()"), [], what)
                if PICTURES:
                    for scheme in ("light", "dark"):
                        self.browser.scheme(scheme)
                        self.browser.screenshot(os.path.join(PICTURES, f"{scheme}-{width}-names.png"))
                    self.browser.scheme("light")
        self.browser.size(1280, 900)
        address = self.run_js("return location.hash")
        self.go(address)
        self.browser.wait("document.querySelector('#names a')")
        first = self.names()[0]
        self.run_js("document.querySelector('#names a').click()")
        self.browser.wait("document.querySelector('#panel-title').textContent === arguments[0] && document.querySelector('#panel .sentence')",
                          "Pod shop/" + first)
        self.assertIn(node, self.text("#panel .sentence"))
        self.run_js("history.back()")
        self.browser.wait("document.querySelector('#names a')")
        self.assertEqual(self.run_js("return location.hash"), address)
        self.open_names("all pods")
        self.assertIn("shop/" + first, self.names())
        self.assertEqual(self.run_js("return document.querySelectorAll('#panel [aria-expanded=true]').length"), 1)
        self.nothing_to_complain()

    def test_26_names_of_a_workload(self):
        """By keyboard: open, type a word, take it back, close. Nothing moves meanwhile."""
        everywhere = self.server.get("/pods?workload=Deployment%20shop/thumbnails")
        self.assertEqual(everywhere["found"], 40)
        self.go("#deployment/shop/thumbnails")
        self.browser.wait("document.querySelector('#panel .sentence') && document.querySelector('#panel button.names')")
        place = "return Array.from(document.querySelectorAll('#panel button.names')).map((b) => Math.round(b.getBoundingClientRect().top))"
        for _ in range(20):
            if self.run_js("return document.activeElement.dataset.key || ''") == "all pods":
                break
            self.browser.press("Tab")
        self.browser.press("Enter")
        opened = self.run_js(place)
        self.browser.wait("document.querySelector('#names a')")
        self.assertEqual(self.run_js(place), opened)
        self.assertEqual(self.run_js("return document.activeElement.dataset.key"), "all pods")
        self.assertEqual(self.names(), [pod["pod"].split("/")[1] for pod in everywhere["pods"]])
        self.browser.press("Tab")
        self.assertTrue(self.run_js("return document.activeElement === document.querySelector('#names input')"))
        word = everywhere["pods"][7]["pod"].rsplit("-", 1)[1]
        self.browser.press(*word.upper())
        self.browser.wait("document.querySelector('#names .note').textContent === '1 found'")
        self.assertEqual(self.names(), [everywhere["pods"][7]["pod"].split("/")[1]])
        self.assertIn(f"find={word.upper()}", self.run_js("return location.hash"))
        self.assertEqual(self.run_js("return document.querySelector('#names li').textContent.split(' on ')[1]"), everywhere["pods"][7]["node"])
        self.assertEqual(self.run_js(place), opened)
        self.go(self.run_js("return location.hash"))
        self.browser.wait("document.querySelector('#names .note').textContent === '1 found'")
        self.run_js("document.querySelector('#names input').focus()")
        self.browser.press("Escape")
        self.browser.wait("document.querySelectorAll('#names li a[href^=\"#pod/\"]').length === 40")
        self.assertNotIn("find", self.run_js("return location.hash"))
        self.browser.press("Escape")
        self.assertTrue(self.run_js("return document.querySelector('#panel').hidden"))
        self.go("#deployment/shop/thumbnails?open=all+pods&find=no-such")
        self.browser.wait("/^None has .no-such. in its name.$/.test(document.querySelector('#names .note').textContent)")
        self.nothing_to_complain()

    def test_27_more_names_than_are_listed(self):
        """Of many the first, and how many there are beside; what a reader has opened stays open when the fleet changes."""
        got = self.run_js("""return import('/pods.js').then(async ({ Pods }) => {
            const asked = [], real = window.fetch, aside = document.createElement('aside');
            window.fetch = (url) => { asked.push(url); return Promise.resolve(new Response(JSON.stringify(
                { pods: [{ pod: 'a/b-0', node: 'n' }, { pod: 'a/b-1' }], found: 1234 }))); };
            const until = async (holds) => { while (!holds()) await new Promise((done) => setTimeout(done)); };
            const pods = new Pods((chosen) => { pods.follow(chosen); pods.show('t', groups(5)); });
            const groups = (n) => [{ key: 'k', name: 'b', head: 'b', pods: n, tail: 'x', query: 'node=n', short: true, wide: true }];
            document.body.append(aside);
            aside.append(pods.element);
            pods.show('t', groups(1234));
            const button = pods.element.querySelector('button');
            button.focus();
            button.click();
            const room = pods.names.childElementCount;
            await until(() => pods.note.textContent !== '');
            const lines = Array.from(pods.names.children, (li) => li.textContent), note = pods.note.textContent;
            pods.show('t', [...groups(7), { ...groups(3)[0], key: 'other' }]);
            const after = [button.textContent, document.activeElement === button, pods.element.querySelectorAll('li > #names').length, asked.length];
            window.fetch = () => Promise.reject(new Error('gone'));
            pods.ask();
            await until(() => pods.note.textContent.startsWith('Stowage'));
            const gone = pods.note.textContent;
            window.fetch = real;
            aside.remove();
            return [asked[0], room, lines, note, ...after, gone];
        })""")
        self.assertEqual(got, ["/pods?node=n", 5, ["b-0 on n", "b-1 waits"], 'and 1,232 more; a word in "Find" narrows them', "×7", True, 1, 1,
                               "Stowage does not answer."])

    def test_24_decisions_lead_to_what_they_are_about(self):
        self.go()
        links = self.run_js("return Array.from(document.querySelectorAll('#decisions td[data-label=of] a'), (a) => a.getAttribute('href'))")
        names = {n["name"] for n in self.server.get("/fleet")["nodes"]}
        self.assertTrue({link.split("/", 1)[1] for link in links if link.startswith("#node/")} & names)
        first = "return document.querySelector('#decisions tbody tr').cells[1].textContent"
        self.run_js("document.querySelectorAll('#decisions th button')[1].click()")
        kinds = self.run_js("return Array.from(document.querySelectorAll('#decisions tbody tr'), (r) => r.cells[1].textContent)")
        self.assertEqual(kinds, sorted(kinds))
        self.assertEqual(self.run_js(first), kinds[0])

    def test_30_without_a_script(self):
        self.browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.open(self.server.url + "/")
        finally:
            self.browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
        self.assertIn("$", self.text("#figures"))
        self.assertGreater(self.run_js("return document.querySelectorAll('#pools tbody tr').length"), 1)

    def test_31_names_and_token(self):
        with tempfile.NamedTemporaryFile("w", suffix=".token") as token:
            token.write("0123456789abcdef\n")
            token.flush()
            guarded = Server("--page-token-file", token.name)
            try:
                port = guarded.url.rsplit(":", 1)[1]
                with self.assertRaisesRegex(urllib.error.HTTPError, "401"):
                    guarded.get("/fleet")
                self.browser.open(f"http://me:0123456789abcdef@127.0.0.1:{port}/")
                self.browser.open(guarded.url + "/") # as after a prompt: the address has no token
                self.browser.wait("document.querySelector('#line').textContent === 'live'")
                self.browser.complaints() # of the 401
            finally:
                guarded.kill()

    def test_99_a_server_that_goes(self):
        self.go()
        self.server.kill()
        self.browser.wait("/^no word from Stowage since .*; this may be old$/.test(document.querySelector('#line').textContent)")
        self.assertTrue(self.run_js("return document.body.classList.contains('stale')"))


if __name__ == "__main__":
    STOWAGE = os.path.abspath(sys.argv[1])
    if len(sys.argv) > 2:
        PICTURES = sys.argv[2]
        os.makedirs(PICTURES, exist_ok=True)
    unittest.main(argv=[sys.argv[0]] + os.environ.get("TESTS", "").split(), verbosity=2)
