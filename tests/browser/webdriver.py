"""A browser by WebDriver (https://www.w3.org/TR/webdriver2/): chromedriver and Chromium as Debian has them, and nothing else."""

import base64
import json
import re
import subprocess
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015"}


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self.base = f"http://127.0.0.1:{found.group(1)}"
        arguments = ["--headless=new", "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--no-first-run", "--disable-component-update", "--disable-background-networking"]
        wanted = {"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments}}}}
        self.session = self._send("POST", "/session", wanted)["sessionId"]
        self.do("POST", "/timeouts", {"script": 80000}) # longer than wait() waits

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as e:
            value = json.load(e)["value"]
            raise RuntimeError(f"{path}: {value['error']}: {value['message'].splitlines()[0]}") from None

    def do(self, method, path, body=None):
        return self._send(method, f"/session/{self.session}{path}", body)

    def close(self):
        try:
            self.do("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def open(self, url):
        self.do("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of an expression or of statements with a return; a promise is waited for."""
        return self.do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition, *arguments, what=None):
        """Until the expression is true, looked at with each frame; a minute at most."""
        script = """const args = arguments, until = Date.now() + 60000;
            return new Promise((done) => { (function again() {
                let value; try { value = (function () { return (%s); }).apply(null, args); } catch (e) { value = false; }
                if (value) done(value); else if (Date.now() > until) done(null); else setTimeout(again, 20);
            })(); });""" % condition
        value = self.run(script, *arguments)
        if value is None:
            raise AssertionError(f"waited in vain for {what or condition}")
        return value

    def press(self, *keys):
        actions = []
        for key in keys:
            key = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.do("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, x, y, click=False):
        actions = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.do("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def cdp(self, command, **parameters):
        return self.do("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def complaints(self):
        """What the console has said since the last time: errors of scripts, breaches of the content policy, failed requests."""
        return [entry["message"] for entry in self.do("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING") and entry["source"] != "rendering"]

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.do("GET", "/screenshot")))
