from __future__ import annotations
import time, os
import pytest
from tests.agents.conftest import lab
from tests.agents.live import Live
pytestmark = [pytest.mark.agents, pytest.mark.timeout(400)]

TOOL = {"claude": '%tool=Bash {"command":"sleep 25","description":"wait","run_in_background":true}%',
        "codex": '%tool=exec_command {"cmd":"sleep 12","yield_time_ms":500}%'}
ASK = {"claude": "%bash=touch made.txt%", "codex": '%tool=exec_command {"cmd":"touch ../out.txt","sandbox_permissions":"require_escalated","justification":"w"}%'}

def watch(live, label, seconds, until=None):
    end=time.time()+seconds; last=None; t0=time.time()
    while time.time()<end:
        s=live.seen(); r=s.reading
        row=live.row()
        key=(r.state.value,r.kind,row.turn,r.open,r.obstacle,r.background,r.decided_by.value,tuple(f"{c.witness.value}:{c.state.value}{'/stale' if c.stale else ''}" for c in r.claims), row.prompt_status,row.prompt_note)
        if key!=last: print(f"  {label} +{time.time()-t0:.2f}", key, flush=True); last=key
        time.sleep(0.1)
    print("\n".join(l for l in live.screen().split("\n") if l.strip())[-1800:])

@pytest.mark.parametrize("agent", ["claude","codex"])
def test_explore(fan, short_folder, model_server, stage, agent):
    live=Live(fan, lab(agent, short_folder, model_server, stage))
    live.trust()
    live.start("hello")
    live.asked("hello"); 
    watch(live,"first",4)
    for what in os.environ["HL"].split("|"):
        print("=====",what)
        if what=="bg": live.send(TOOL[agent]); watch(live,"bg",18)
        if what=="ask": live.send(ASK[agent]); watch(live,"ask",6); live.press("Escape"); watch(live,"esc",8)
        if what=="esc": live.send("%slow=20%"); watch(live,"slow",4); live.press("Escape"); watch(live,"esc",8)
        if what in("400","401","500"):
            model_server.switch(status=int(what)); live.send("e "+what); watch(live,what,10); model_server.switch(status=0); live.send("after "+what); watch(live,"after",12)
        if what=="refuse":
            with model_server.refusing():
                live.send("refused"); watch(live,"refused",12); live.send("after refused"); watch(live,"refused",3)
            watch(live,"up",15)
        if what=="q":
            live.send('%tool=AskUserQuestion {"questions":[{"question":"Which?","header":"C","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}%'); watch(live,"q",5); live.press("Escape"); watch(live,"qesc",4)
        if what=="say": live.send("%say=Shall I go on?%"); watch(live,"say",5)
        if what=="exit": live.press("C-c"); time.sleep(0.3); live.press("C-c") if agent=="claude" else None; watch(live,"exit",4)
    print(model_server.prompts())
