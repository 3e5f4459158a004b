// Browsers start no worker for a page that is read from a file. Then the search runs in a hidden frame, which has the same interface.
(() => {
  if (location.protocol !== "file:") return;
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.tell(data);
      const script = frame.contentDocument.createElement("script");
      script.src = new URL(url, location.href).href;
      script.addEventListener("load", () => this.start());
      frame.contentDocument.documentElement.append(script);
    }
    tell(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    start() {
      const waited = this.waiting;
      this.waiting = null;
      waited.forEach((data) => this.postMessage(data));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
})();
