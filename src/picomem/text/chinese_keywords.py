"""English words for common Chinese ones, so that the key of a Chinese memory describes its subject.

A key consists of ASCII letters, and a hash is not readable. This is no translation: the listed words that occur in a
text form the beginning of its key, in their order, and digits of its hash distinguish two such keys.
"""

from __future__ import annotations

import re
from functools import cache

_WORDS = """
数据库 database|数据 data|接口 api|服务器 server|服务 service|端口 port|缓存 cache|队列 queue|日志 log|
部署 deploy|上线 release|发布 release|发版 release|版本 version|分支 branch|提交 commit|代码 code|测试 test|
生产 production|环境 environment|前端 frontend|后端 backend|框架 framework|语言 language|变量 variable|
函数 function|注释 comment|命名 naming|字段 field|表结构 schema|备份 backup|迁移 migration|监控 monitoring|
告警 alert|超时 timeout|限流 rate_limit|密码 password|密钥 key|账号 account|权限 permission|登录 login|
用户名 username|用户 user|客户 customer|供应商 supplier|合同 contract|发票 invoice|报销 expenses|预算 budget|
价格 price|金额 amount|付款 payment|支付 payment|退款 refund|订单 order|库存 stock|仓库 warehouse|快递 delivery|
报告 report|报表 report|周报 weekly_report|日报 daily_report|会议 meeting|周会 weekly_meeting|开会 meeting|
例会 meeting|邮件 mail|邮箱 mail|电话 phone|手机 phone|微信 wechat|文档 docs|模板 template|图片 image|
图表 chart|表格 table|颜色 colour|主题 theme|深色 dark|浅色 light|字体 font|标题 title|回答 answer|回复 reply|
中文 chinese|英文 english|英语 english|日语 japanese|格式 format|简短 short|详细 detailed|结论 conclusion|
项目 project|产品 product|需求 requirement|设计 design|评审 review|审批 approval|计划 plan|决定 decision|
选 choice|原因 cause|负责 owner|对接 contact|经理 manager|老板 boss|同事 colleague|团队 team|公司 company|
办公室 office|部门 department|财务 finance|法务 legal|运维 operations|工资 salary|请假 leave|休假 holiday|
放假 holiday|工作 work|下班 after_work|上班 commute|加班 overtime|名字 name|生日 birthday|年龄 age|性别 gender|
住在 home|住 home|搬家 move|房租 rent|租房 rent|房子 house|地址 address|城市 city|儿子 son|女儿 daughter|
孩子 child|老婆 wife|妻子 wife|爱人 spouse|老公 husband|丈夫 husband|妈妈 mother|母亲 mother|我妈 mother|
爸爸 father|父亲 father|我爸 father|爷爷 grandfather|奶奶 grandmother|哥哥 brother|弟弟 brother|姐姐 sister|
妹妹 sister|朋友 friend|邻居 neighbour|医生 doctor|过敏 allergy|花生 peanut|牛奶 milk|乳糖 lactose|海鲜 seafood|
香菜 coriander|辣 spicy|素食 vegetarian|吃素 vegetarian|不吃 not_eat|不喝 not_drink|咖啡 coffee|茶 tea|
酒 alcohol|早餐 breakfast|午饭 lunch|晚饭 dinner|血糖 blood_sugar|血压 blood_pressure|糖尿病 diabetes|膝盖 knee|
药 medicine|体检 checkup|健身 fitness|跑步 running|游泳 swimming|爬山 hiking|旅行 travel|旅游 travel|
出差 business_trip|航班 flight|酒店 hotel|火车 train|地铁 metro|公交 bus|开车 driving|骑车 cycling|车 car|
猫 cat|狗 dog|学校 school|老师 teacher|考试 exam|考研 graduate_exam|论文 thesis|课 lesson|钢琴 piano|
吉他 guitar|书 book|电影 film|音乐 music|游戏 game|周一 monday|周二 tuesday|周三 wednesday|周四 thursday|
周五 friday|周六 saturday|周日 sunday|周末 weekend|早上 morning|上午 morning|下午 afternoon|晚上 evening|
每天 daily|每周 weekly|每月 monthly|每年 yearly|喜欢 likes|讨厌 dislikes|偏好 prefers|习惯 habit|不要 no|
禁止 no|不能 cannot|必须 must|一律 always|统一 always|只能 only|脱敏 masked|缩进 indentation|空格 spaces|
制表符 tabs|单元测试 unit_test|覆盖率 coverage|微服务 microservice|消息 message|网关 gateway|证书 certificate|
合并 merge|集成 integration|请求 request|规范 convention|规定 rule|架构 architecture|性能 performance|安全 security|
集群 cluster|容器 container|镜像 image|网络 network|域名 domain|索引 index|搜索 search|排序 sorting|分页 paging|
上传 upload|下载 download|文件 file|目录 folder|依赖 dependency|构建 build|编译 compile|脚本 script|命令 command|
配置 config|参数 parameter|错误 error|异常 exception|重试 retry|异步 async|线程 thread|进程 process|内存 memory|
磁盘 disk|时区 timezone|日期 date|电脑 computer|护照 passport|签证 visa|银行 bank|保险 insurance|医院 hospital|
牙医 dentist|手术 surgery|眼镜 glasses|瑜伽 yoga|搬到 moved|北京 beijing|上海 shanghai|广州 guangzhou|深圳 shenzhen|
杭州 hangzhou|成都 chengdu|苏州 suzhou|南京 nanjing|武汉 wuhan|西安 xian|重庆 chongqing|天津 tianjin|香港 hong_kong|
台北 taipei|不喜欢 dislikes|不爱 dislikes|不再 no|不用 no|没有 no|从不 never|绝不 never|不 no|没 no|别 no|
不错 -|不过 -|不同 -|不仅 -|不但 -|不少 -|不久 -|不管 -|差不多 -|对不起 -|不好意思 -|别人 -|级别 -|分别 -|特别 -|类别 -|
区别 -|告别 -|识别 -|辨别 -|没关系 -|没问题 -
"""
_SAYS_NOTHING = "-"  # of a word that only looks like a denial


@cache
def _pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    words: dict[str, str] = {}
    for entry in _WORDS.replace("\n", "").split("|"):
        chinese, english = entry.split()
        words[chinese] = english
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))), words


def english_keywords(text: str) -> list[str]:
    """The English words for the Chinese ones of a text that are known here, in their order."""
    pattern, words = _pattern()
    english = (words[word] for word in pattern.findall(text))
    return [word for word in english if word != _SAYS_NOTHING]
